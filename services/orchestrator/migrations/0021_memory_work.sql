-- People who let a model look at what memory holds of them, and what the edge signed for each: it is acted on until it runs out.
CREATE TABLE memory_work (
  organization text NOT NULL,
  principal text NOT NULL,
  delegation text NOT NULL,
  until timestamptz NOT NULL,
  -- Who was asked for longest ago is next.
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- Not before then: nothing waited, or something was in the way.
  next_at timestamptz NOT NULL DEFAULT now(),
  paused_reason text NOT NULL DEFAULT '',
  stored bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization, principal)
);
CREATE INDEX memory_work_next ON memory_work (asked_at);

-- Which replica asks the model now, and how often it was asked this minute: the one row.
CREATE TABLE memory_work_turn (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  replica uuid,
  until timestamptz NOT NULL DEFAULT '-infinity',
  minute timestamptz NOT NULL DEFAULT '-infinity',
  calls integer NOT NULL DEFAULT 0
);
INSERT INTO memory_work_turn DEFAULT VALUES;
