-- A run that waits for a person and is held by nobody until then: until it is woken, or its question has expired. A release
-- before this one claims it at once, which costs a claim and loses nothing.
ALTER TABLE run ADD COLUMN parked_until timestamptz;
