-- Rows of the sixth schema: a server that brings tools, and one of them that was accepted.
INSERT INTO foreign_servers (project, name, record, condition, changed_at)
VALUES ('local', 'far',
    '{"name":"far","reached":{"transport":"http","url":"https://example.com/mcp"},"is_enabled":false,"changed_at":1700000000000000}',
    NULL, 1700000000000000);
INSERT INTO foreign_definitions (project, server, tool, accepted, offered, changed_at)
VALUES ('local', 'far', 'echo', '{"name":"echo"}', NULL, 1700000000000000);
