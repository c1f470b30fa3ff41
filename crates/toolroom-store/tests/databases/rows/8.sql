INSERT INTO tracks (id, conversation, track, touched_at) VALUES (
    '["local",null,"caller/cli"]', NULL,
    '{"provenance":{"private":true,"untrusted":false,"outward":false},"started_at":1700000000000000,"touched_at":1700000000000000}',
    1700000000000000
);
UPDATE memories SET stored_under = '{"private":true,"untrusted":false,"outward":false}';
