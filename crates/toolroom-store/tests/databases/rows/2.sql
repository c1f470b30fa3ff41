-- Rows of the second schema: a sealed request, a standing answer, a sealed secret, a trusted file.
UPDATE approvals SET sealed = x'00' WHERE call_id = 'call_3';
INSERT INTO answers (id, project, user_id, effect, tool, condition, lifts, definition, thread, call_id, given_by, given_at)
VALUES ('ans_1', 'local', NULL, 'allow', 'example:publish', NULL, 'ask', 'd', NULL, 'call_0', 'caller', 1700000000000000);
INSERT INTO secrets (project, name, sealed, created_at, changed_at)
VALUES ('local', 'TOKEN', x'00', 1700000000000000, 1700000000000000);
INSERT INTO trusted_files (path, sha256, trusted_at) VALUES ('/srv/toolroom.toml', 'h', 1700000000000000);
UPDATE revisions SET value = value + 2 WHERE name = 'standing';
