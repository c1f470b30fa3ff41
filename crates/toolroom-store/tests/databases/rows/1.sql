-- Rows of the first schema: a call of each fate, questions, a whole result, queued work, switches, a process that died.
INSERT INTO instances (id, machine, process, started_at, heartbeat_at)
VALUES ('ins_1', 'elsewhere', '4711/1', 1700000000000000, 1700000000000000);
INSERT INTO calls (id, project, user_id, tool, entrance, definition, effect, status, kind, arguments, arguments_bytes,
    result, result_chars, artifact_id, message, error, detail, rule, thread, run, asked_at, begun_at, ended_at,
    duration_us, instance)
VALUES
    ('call_1', 'local', 'ana', 'builtin:calculator', 'cli', 'd', 'pure', 'done', NULL, '{"expression":"2 + 3"}', 22,
        '{"value":5}', 11, 'art_1', NULL, NULL, NULL, 'default', NULL, NULL, 1700000000000000, 1700000000000001,
        1700000000000002, 2, 'ins_0'),
    ('call_2', 'local', NULL, 'builtin:calculator', 'cli', 'd', 'pure', 'failed', 'invalid_arguments', '{}', 2,
        NULL, 0, NULL, NULL, 'expression is missing', NULL, NULL, NULL, NULL, 1700000001000000, NULL,
        1700000001000002, 2, NULL),
    ('call_3', 'local', NULL, 'example:publish', 'cli', 'd', 'destructive', 'pending', NULL, '{}', 2,
        NULL, 0, NULL, NULL, NULL, NULL, 'ask', NULL, NULL, 1700000002000000, NULL, NULL, 0, NULL),
    ('call_4', 'local', NULL, 'example:publish', 'cli', 'd', 'destructive', 'begun', NULL, '{}', 2,
        NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1700000003000000, 1700000003000001, NULL, 0, 'ins_1');
INSERT INTO approvals (call_id, arguments_hash, definition_hash, asks, reason, expires_at, state)
VALUES ('call_3', 'a', 'd', 'caller', 'it writes', 1900000000000000, 'waiting');
INSERT INTO artifact_bytes (project, sha256, bytes) VALUES ('local', 'h', x'0102');
INSERT INTO artifacts (id, project, user_id, call_id, sha256, media_type, kept_at)
VALUES ('art_1', 'local', 'ana', 'call_1', 'h', 'text/plain', 1700000000000002);
INSERT INTO outbox (id, project, call_id, kind, payload, state, created_at, next_at, attempts)
VALUES ('work_1', 'local', 'call_1', 'webhook', '{}', 'waiting', 1700000000000002, 1700000000000002, 0);
INSERT INTO switches (project, kind, name, state, changed_at)
VALUES ('local', 'tool', 'builtin:hash', 'off', 1700000000000000), ('local', 'feature', 'programs', 'on', 1700000000000000);
UPDATE revisions SET value = 2 WHERE name = 'switches';
