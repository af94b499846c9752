-- What texts mean, as vectors of one model. No row: no model is set, and nothing waits for one.
CREATE TABLE embedding_model (name text PRIMARY KEY);
CREATE TABLE item_embedding (
  item_id uuid PRIMARY KEY REFERENCES search_item ON DELETE CASCADE,
  corpus_id integer NOT NULL,
  -- When it may be asked for; null: it has its vector, or the model has none for it.
  due_at timestamptz DEFAULT now(),
  -- Of each dimension whether it is positive: what is near by these is looked at closely.
  signs bit varying,
  -- A signed byte for each dimension.
  vector bytea
);
CREATE INDEX item_embedding_due ON item_embedding (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX item_embedding_corpus ON item_embedding (corpus_id);
-- Some hundred bytes, which do not get smaller by being packed.
ALTER TABLE item_embedding ALTER COLUMN vector SET STORAGE EXTERNAL;

CREATE FUNCTION await_embedding() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO item_embedding (item_id, corpus_id) SELECT item_id, corpus_id FROM new_items
    WHERE EXISTS (SELECT FROM embedding_model) ON CONFLICT (item_id) DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER await_embedding AFTER INSERT ON search_item REFERENCING NEW TABLE AS new_items
  FOR EACH STATEMENT EXECUTE FUNCTION await_embedding();

-- A text that changes waits again; one that others see from now on is found by them alone.
CREATE FUNCTION follow_search_item() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.terms <> OLD.terms OR NEW.actor <> OLD.actor THEN
    UPDATE item_embedding SET corpus_id = NEW.corpus_id, due_at = now(), signs = NULL, vector = NULL WHERE item_id = NEW.item_id;
  ELSE
    UPDATE item_embedding SET corpus_id = NEW.corpus_id WHERE item_id = NEW.item_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER follow_search_item AFTER UPDATE ON search_item FOR EACH ROW
  WHEN (NEW.corpus_id <> OLD.corpus_id OR NEW.terms <> OLD.terms OR NEW.actor <> OLD.actor) EXECUTE FUNCTION follow_search_item();

GRANT SELECT ON embedding_model, item_embedding TO hlvm_memory_viewer;
ALTER TABLE item_embedding ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON item_embedding TO hlvm_memory_viewer USING (corpus_id = ANY ((SELECT viewer_corpora())::integer[]));
