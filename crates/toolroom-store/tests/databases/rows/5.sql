-- Rows of the fifth schema: a project, a key, a browser that is signed in, a reply that may be asked for again.
INSERT INTO projects (id, name, host_tools, created_at) VALUES ('shop', 'The shop', 0, 1700000000000000);
INSERT INTO api_keys (id, project, name, environment, sha256, hint, permissions, origins, created_at, expires_at)
VALUES ('key_1', 'shop', 'backend', 'prod', 'k', 'tr_prod_…abcd', '["call"]', '[]', 1700000000000000, NULL);
INSERT INTO sign_ins (sha256, kind, project, created_at, expires_at)
VALUES ('b', 'browser', 'local', 1700000000000000, 1900000000000000);
INSERT INTO replies (project, caller, name, request, created_at, status, body)
VALUES ('shop', 'key_1', 'again', 'r', 1700000000000000, 200, '{}');
