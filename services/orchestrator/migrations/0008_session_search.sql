-- For a while its number was 0007, which was given twice: where it was applied as that, everything is there already.
-- What a message of a person or a model says, as words to search by; at most some thousand of them. Other events have none.
ALTER TABLE event ADD COLUMN IF NOT EXISTS words tsvector;
CREATE INDEX IF NOT EXISTS event_words ON event USING gin (words) WHERE words IS NOT NULL;

ALTER TABLE session ADD COLUMN IF NOT EXISTS title_words tsvector NOT NULL DEFAULT '';
UPDATE session SET title_words = array_to_tsvector(array_remove(regexp_split_to_array(lower(title), '[^[:alnum:]]+'), ''));
ALTER TABLE session ADD COLUMN IF NOT EXISTS archived boolean NOT NULL DEFAULT false;
-- No reference: a fork outlives what it was forked from.
ALTER TABLE session ADD COLUMN IF NOT EXISTS forked_from uuid;
ALTER TABLE session ADD COLUMN IF NOT EXISTS forked_at bigint NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN IF NOT EXISTS imported boolean NOT NULL DEFAULT false;
