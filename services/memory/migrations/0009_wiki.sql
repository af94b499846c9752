-- Pages of a project or of the whole organization. What is written is a revision; a page is what was published last.
CREATE TABLE wiki_page (
  page_id uuid PRIMARY KEY,
  organization text NOT NULL CHECK (organization <> ''),
  scope text NOT NULL CHECK (scope IN ('project', 'team')),
  project text NOT NULL,
  name text NOT NULL,
  -- 0: nothing was published yet, or it was removed.
  present integer NOT NULL DEFAULT 0,
  -- How often something was published.
  numbers integer NOT NULL DEFAULT 0,
  title text NOT NULL DEFAULT '',
  summary text NOT NULL DEFAULT '',
  tags text[] NOT NULL DEFAULT '{}',
  CHECK ((scope = 'project') = (project <> '')),
  UNIQUE (organization, scope, project, name)
);
CREATE TABLE wiki_revision (
  revision_id uuid PRIMARY KEY,
  page_id uuid NOT NULL REFERENCES wiki_page,
  organization text NOT NULL,
  scope text NOT NULL,
  project text NOT NULL,
  number integer NOT NULL DEFAULT 0,
  base integer NOT NULL,
  content text NOT NULL,
  removes boolean NOT NULL,
  reason text NOT NULL,
  state text NOT NULL CHECK (state IN ('published', 'waiting', 'rejected')),
  written_by text NOT NULL,
  session_id text NOT NULL,
  call_id text NOT NULL,
  written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_by text NOT NULL DEFAULT '',
  decided_at timestamptz,
  CHECK ((state = 'published') = (number > 0))
);
CREATE UNIQUE INDEX wiki_revision_number ON wiki_revision (page_id, number) WHERE number > 0;
-- A call that a run makes again writes nothing again.
CREATE UNIQUE INDEX wiki_revision_call ON wiki_revision (organization, session_id, call_id) WHERE call_id <> '';
CREATE INDEX wiki_revision_time ON wiki_revision (organization, scope, project, written_at DESC);
CREATE INDEX wiki_revision_writer ON wiki_revision (organization, written_by);

GRANT SELECT, INSERT, UPDATE ON wiki_page, wiki_revision TO hlvm_memory_viewer;
ALTER TABLE wiki_page ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON wiki_page TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND (scope = 'team' OR project = (SELECT viewer_project()))
);
ALTER TABLE wiki_revision ENABLE ROW LEVEL SECURITY;
CREATE POLICY scope ON wiki_revision TO hlvm_memory_viewer USING (
  organization = (SELECT viewer_organization()) AND (scope = 'team' OR project = (SELECT viewer_project()))
);

-- Pages are found by their words as facts and turns are.
ALTER TABLE search_corpus DROP CONSTRAINT search_corpus_kind_check;
ALTER TABLE search_corpus ADD CONSTRAINT search_corpus_kind_check CHECK (kind IN ('fact', 'turn', 'page'));
ALTER TABLE search_item DROP CONSTRAINT search_item_kind_check;
ALTER TABLE search_item ADD CONSTRAINT search_item_kind_check CHECK (kind IN ('fact', 'turn', 'page')) NOT VALID;

-- Pages that one person alone wrote for a project are another project's from now on, but for names that are taken there.
CREATE FUNCTION adopt_pages(moving_organization text, moving_writer text, from_project text, to_project text) RETURNS void LANGUAGE sql AS $$
  WITH moved AS (
    UPDATE wiki_page SET project = to_project
    WHERE organization = moving_organization AND scope = 'project' AND project = from_project
      AND NOT EXISTS (SELECT FROM wiki_revision AS one WHERE one.page_id = wiki_page.page_id AND written_by <> moving_writer)
      AND NOT EXISTS (SELECT FROM wiki_page AS there WHERE (there.organization, there.scope, there.project, there.name)
        = (moving_organization, 'project', to_project, wiki_page.name))
    RETURNING page_id
  ), revisions AS (
    UPDATE wiki_revision SET project = to_project FROM moved WHERE wiki_revision.page_id = moved.page_id
  )
  UPDATE search_item SET project = to_project FROM moved WHERE item_id = moved.page_id
$$;
