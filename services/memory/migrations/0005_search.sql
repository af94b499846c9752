-- Facts and turns by their words, in the transaction that writes them. A corpus is what weighs words against each other: all items of
-- one kind that the same people see.
CREATE TABLE search_corpus (
  corpus_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('personal', 'team', 'project')),
  -- Whose it is: the person, nobody, or the project.
  holder text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('fact', 'turn')),
  items bigint NOT NULL DEFAULT 0,
  length bigint NOT NULL DEFAULT 0,
  UNIQUE (organization, scope, holder, kind)
) WITH (fillfactor = 50);
-- A session within a corpus.
CREATE TABLE search_container (
  container_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  corpus_id integer NOT NULL,
  container text NOT NULL,
  items bigint NOT NULL DEFAULT 0,
  length bigint NOT NULL DEFAULT 0,
  UNIQUE (corpus_id, container)
) WITH (fillfactor = 50);
CREATE TABLE search_item (
  item_id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('fact', 'turn')),
  audience text NOT NULL,
  organization text NOT NULL,
  owner text NOT NULL,
  project text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('personal', 'team', 'project')),
  container text NOT NULL,
  ordinal integer,
  actor text NOT NULL,
  said_at timestamptz,
  origin text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  -- How texts were cut into terms; items of another version are cut again.
  terms_version smallint NOT NULL,
  length integer NOT NULL,
  terms text[] NOT NULL,
  counts smallint[] NOT NULL,
  -- Set by a trigger.
  corpus_id integer NOT NULL DEFAULT 0,
  container_id integer NOT NULL DEFAULT 0
);
CREATE INDEX search_item_place ON search_item (container_id, ordinal) WHERE container_id <> 0;
CREATE TABLE posting (
  corpus_id integer NOT NULL,
  container_id integer NOT NULL,
  ordinal integer,
  length integer NOT NULL,
  count smallint NOT NULL,
  item_id uuid NOT NULL,
  term text COLLATE "C" NOT NULL,
  PRIMARY KEY (corpus_id, term, item_id) INCLUDE (count, length, container_id, ordinal)
);

CREATE FUNCTION place_search_item() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  whose text := CASE NEW.scope WHEN 'personal' THEN NEW.owner WHEN 'project' THEN NEW.project ELSE '' END;
BEGIN
  NEW.corpus_id := NULL;
  NEW.container_id := 0;
  SELECT corpus_id INTO NEW.corpus_id FROM search_corpus
    WHERE organization = NEW.organization AND scope = NEW.scope AND holder = whose AND kind = NEW.kind;
  IF NOT FOUND THEN
    INSERT INTO search_corpus (organization, scope, holder, kind) VALUES (NEW.organization, NEW.scope, whose, NEW.kind)
      ON CONFLICT (organization, scope, holder, kind) DO UPDATE SET items = search_corpus.items RETURNING corpus_id INTO NEW.corpus_id;
  END IF;
  IF NEW.container <> '' THEN
    SELECT container_id INTO NEW.container_id FROM search_container WHERE corpus_id = NEW.corpus_id AND container = NEW.container;
    IF NOT FOUND THEN
      INSERT INTO search_container (corpus_id, container) VALUES (NEW.corpus_id, NEW.container)
        ON CONFLICT (corpus_id, container) DO UPDATE SET items = search_container.items RETURNING container_id INTO NEW.container_id;
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER place BEFORE INSERT OR UPDATE ON search_item FOR EACH ROW EXECUTE FUNCTION place_search_item();

CREATE FUNCTION post_search_items() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM posting USING old_items, unnest(old_items.terms) AS old_term
      WHERE posting.corpus_id = old_items.corpus_id AND posting.term = old_term AND posting.item_id = old_items.item_id;
    UPDATE search_corpus SET items = search_corpus.items - gone.items, length = search_corpus.length - gone.length
      FROM (SELECT corpus_id, count(*) AS items, sum(length) AS length FROM old_items GROUP BY corpus_id) AS gone
      WHERE gone.corpus_id = search_corpus.corpus_id;
    UPDATE search_container SET items = search_container.items - gone.items, length = search_container.length - gone.length
      FROM (SELECT container_id, count(*) AS items, sum(length) AS length FROM old_items GROUP BY container_id) AS gone
      WHERE gone.container_id = search_container.container_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO posting (corpus_id, container_id, ordinal, length, count, item_id, term)
      SELECT corpus_id, container_id, ordinal, length, cut.count, item_id, cut.term
      FROM new_items, unnest(new_items.terms, new_items.counts) AS cut (term, count);
    UPDATE search_corpus SET items = search_corpus.items + come.items, length = search_corpus.length + come.length
      FROM (SELECT corpus_id, count(*) AS items, sum(length) AS length FROM new_items GROUP BY corpus_id) AS come
      WHERE come.corpus_id = search_corpus.corpus_id;
    UPDATE search_container SET items = search_container.items + come.items, length = search_container.length + come.length
      FROM (SELECT container_id, count(*) AS items, sum(length) AS length FROM new_items GROUP BY container_id) AS come
      WHERE come.container_id = search_container.container_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER post_new AFTER INSERT ON search_item REFERENCING NEW TABLE AS new_items
  FOR EACH STATEMENT EXECUTE FUNCTION post_search_items();
CREATE TRIGGER post_changed AFTER UPDATE ON search_item REFERENCING OLD TABLE AS old_items NEW TABLE AS new_items
  FOR EACH STATEMENT EXECUTE FUNCTION post_search_items();
CREATE TRIGGER post_gone AFTER DELETE ON search_item REFERENCING OLD TABLE AS old_items
  FOR EACH STATEMENT EXECUTE FUNCTION post_search_items();

-- A fact that ends, or becomes another project's, takes its words with it, whoever does that.
CREATE FUNCTION follow_fact() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.valid_to IS NOT NULL THEN DELETE FROM search_item WHERE item_id = NEW.fact_id;
  ELSE UPDATE search_item SET audience = NEW.audience, project = NEW.project WHERE item_id = NEW.fact_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER follow AFTER UPDATE ON fact FOR EACH ROW
  WHEN (NEW.audience <> OLD.audience OR (NEW.valid_to IS NOT NULL AND OLD.valid_to IS NULL)) EXECUTE FUNCTION follow_fact();

-- Row-level security as on fact. What is derived is read by the corpora that a viewer sees, and written by the triggers alone.
GRANT SELECT, INSERT, UPDATE, DELETE ON search_item TO hlvm_memory_viewer;
GRANT SELECT ON search_corpus, search_container, posting TO hlvm_memory_viewer;
CREATE FUNCTION viewer_corpora() RETURNS integer[] LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT coalesce(array_agg(corpus_id), '{}') FROM search_corpus
  WHERE organization = viewer_organization() AND (scope, holder) IN (
    ('team', ''), ('personal', viewer_principal()), ('project', viewer_project())
  )
$$;
ALTER TABLE search_item ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON search_item TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization())
  AND CASE scope
    WHEN 'team' THEN true
    WHEN 'personal' THEN owner = (SELECT viewer_principal())
    WHEN 'project' THEN project = (SELECT viewer_project())
    ELSE false
  END
);
ALTER TABLE search_corpus ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON search_corpus TO hlvm_memory_viewer USING (corpus_id = ANY ((SELECT viewer_corpora())::integer[]));
ALTER TABLE search_container ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON search_container TO hlvm_memory_viewer USING (corpus_id = ANY ((SELECT viewer_corpora())::integer[]));
ALTER TABLE posting ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON posting TO hlvm_memory_viewer USING (corpus_id = ANY ((SELECT viewer_corpora())::integer[]));

-- The words of facts are found here now.
ALTER TABLE fact DROP COLUMN full_text;
