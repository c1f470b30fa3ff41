-- Rows of the seventh schema: what the first call offered.
INSERT INTO call_offers (call_id, offers)
VALUES ('call_1', '[{"type":"save_file","name":"sum.bin","media_type":"application/octet-stream","bytes":2,"artifact":"art_1"}]');
