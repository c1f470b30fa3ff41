-- Rows of the third schema: a conversation with a run that ended, what it cost and taught, memories, an agent.
UPDATE calls SET run = 'run_1', model_call = 'one', thread = 'conv_1' WHERE id = 'call_1';
INSERT INTO conversations (id, project, user_id, agent, title, folded, entries, created_at, updated_at)
VALUES ('conv_1', 'local', NULL, 'default', 'Sums', 'sums', 2, 1700000000000000, 1700000000000010);
INSERT INTO entries (conversation, seq, run, said_at, content)
VALUES
    ('conv_1', 0, 'run_1', 1700000000000000,
        '{"message":{"role":"user","blocks":[{"type":"text","text":"what is 2 + 3?"}]}}'),
    ('conv_1', 1, 'run_1', 1700000000000010,
        '{"message":{"role":"assistant","blocks":[{"type":"text","text":"5"}]}}');
INSERT INTO runs (id, conversation, project, user_id, state, instance, started_at, record)
VALUES ('run_1', 'conv_1', 'local', NULL, 'done', NULL, 1700000000000000,
    '{"id":"run_1","conversation":"conv_1","project":"local","agent":"default","entrance":"cli","state":"done","model":"offline/toolroom","iterations":1,"usage":{"input":0,"output":0,"cache_read":0,"cache_write":0,"reasoning":0},"cost":0.0,"started_at":1700000000000000,"ended_at":1700000000000010}');
INSERT INTO run_events (run, seq, event)
VALUES ('run_1', 0,
    '{"seq":0,"at":1700000000000000,"type":"started","run":"run_1","conversation":"conv_1","agent":"default","resumed":false}');
INSERT INTO usage (project, user_id, spent_at, run, conversation, agent, model, purpose, input, output, cache_read,
    cache_write, reasoning, cost)
VALUES ('local', NULL, 1700000000000010, 'run_1', 'conv_1', 'default', 'offline/toolroom', 'answer', 10, 5, 0, 0, 0, 0.25);
INSERT INTO past_requests (id, project, tool, message, conversation)
VALUES ('req_1', 'local', 'builtin:calculator', 'what is 2 + 3?', 'conv_1');
INSERT INTO memories (project, user_id, key, content, category, hits, source, created_at, updated_at)
VALUES ('local', NULL, 'colour', 'likes blue', 'PREFERENCE', 1, NULL, 1700000000000000, 1700000000000000);
INSERT INTO promotions (id, project, user_id, agent, addition, promoted_at, key, content, category, hits, source,
    created_at, updated_at)
VALUES ('pro_1', 'local', NULL, 'default', 'likes tea', 1700000000000000, 'drink', 'likes tea', 'PREFERENCE', 3, NULL,
    1700000000000000, 1700000000000000);
INSERT INTO agents (project, id, record, changed_at)
VALUES ('local', 'writer',
    '{"id":"writer","name":"Writer","prompt":"You write.","models":[],"allow":[],"deny":[],"limits":{"iterations":15,"parallel":8,"tool_tokens":12000}}',
    1700000000000000);
