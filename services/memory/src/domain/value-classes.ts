export interface ValueClass {
  readonly name: string;
  /** Whether who uses one uses no other beside it. */
  readonly isSingle: boolean;
}

const CLASSES: readonly (readonly [name: string, isSingle: boolean, values: string])[] = [
  [
    "editor",
    true,
    "vim|neovim|emacs|vs code|vscode|visual studio code|intellij|webstorm|pycharm|zed|sublime text|sublime|helix|cursor|nano|kakoune|atom",
  ],
  ["package manager", true, "npm|pnpm|yarn|bun|poetry|uv|pip|pipenv|conda"],
  ["test runner", true, "vitest|jest|mocha|ava|pytest|unittest|jasmine|karma|node:test"],
  ["linter", true, "eslint|oxlint|biome|tslint|ruff|flake8|pylint|standard"],
  ["formatter", true, "prettier|oxfmt|dprint|black|yapf"],
  ["bundler", true, "webpack|vite|rollup|esbuild|parcel|rspack|turbopack"],
  ["indentation", true, "tabs|spaces|(?:two|four|2|4|8)[ -]spaces?|tab indentation|space indentation"],
  ["theme", true, "(?:the )?(?:dark|light) (?:mode|theme)"],
  ["ci", true, "github actions|gitlab ci|jenkins|circleci|travis|travis ci|buildkite|drone|teamcity|azure pipelines"],
  ["version control", true, "git|mercurial|subversion|svn|perforce"],
  ["shell", true, "bash|zsh|fish|nushell|powershell"],
  ["operating system", true, "linux|macos|windows|ubuntu|debian|fedora|arch|arch linux|nixos|freebsd"],
  ["browser", true, "firefox|chrome|safari|edge|brave|arc|vivaldi"],
  ["database", true, "postgres|postgresql|mysql|mariadb|sqlite|mongodb|mongo|oracle|sql server|cockroachdb|dynamodb|cassandra"],
  ["chat", true, "slack|teams|microsoft teams|discord|mattermost|zulip|rocket chat"],
  ["issue tracker", true, "jira|linear|github issues|youtrack|trello|asana|clickup|shortcut"],
  ["monorepo tool", true, "nx|turborepo|lerna|bazel|rush|pants"],
  ["hosting", false, "aws|gcp|azure|google cloud|hetzner|heroku|fly\\.io|vercel|netlify|digitalocean|render"],
  ["language", false, "typescript|javascript|python|rust|go|golang|java|kotlin|swift|ruby|php|c\\+\\+|c#|scala|elixir|haskell|zig|dart"],
  ["frontend framework", false, "react|vue|svelte|angular|solid|solidjs|preact|ember|next\\.js|nuxt|astro"],
  ["backend framework", false, "express|fastify|nestjs|django|flask|fastapi|rails|laravel|spring|spring boot|hono|koa"],
  ["search engine", false, "elasticsearch|opensearch|meilisearch|typesense|solr|algolia"],
  ["message broker", false, "kafka|rabbitmq|nats|pulsar|sqs|redis streams"],
  ["css framework", false, "tailwind|bootstrap|bulma|tailwind css"],
  ["hot drink", false, "tea|coffee|green tea|black tea|decaf|espresso|matcha"],
  ["diet", false, "vegetarian|vegan|keto|paleo|gluten-free"],
  ["branching", false, "trunk-based development|gitflow|github flow|feature branches"],
  ["merging", false, "squash(?: and)? merges?|rebase merges?|rebasing|merge commits|squash merging"],
];
const BY_VALUE = CLASSES.map(([name, isSingle, values]) => ({
  name,
  isSingle,
  pattern: new RegExp(`^(?:${values})(?: v?\\d[\\w.]*)?$`, "i"),
}));

/** Of which kind a value is, where only one of the kind is meant at a time. */
export function classOf(value: string): ValueClass | undefined {
  const core = value.trim().replace(/^(?:the|a|an|using) /i, "");
  return BY_VALUE.find(({ pattern }) => pattern.test(core));
}
