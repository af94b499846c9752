/** `section` or `section "name"`, and what may be set in it without any program being run or any address being redirected. */
const HARMLESS: readonly (readonly [section: RegExp, key: RegExp, value: RegExp])[] = [
  [/^branch "/, /^(remote|merge|rebase|description)$/, /^[\w./@+-]+$/],
  [/^remote "/, /^url$/, /^(https:\/\/|ssh:\/\/|git@)[\w.@:/~+-]+$/],
  [/^remote "/, /^(fetch|push|tagopt)$/, /^[\w./:*+-]+$/],
  [/^core$/, /^(repositoryformatversion|filemode|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$/, /^\w+$/],
  [/^core$/, /^bare$/, /^false$/],
  [/^core$/, /^worktree$/, /^(\.\.\/)+[\w./-]+$/],
  [/^user$/, /^(name|email)$/, /^[^\\"#;]+$/],
  [/^submodule "/, /^active$/, /^\w+$/],
  [/^submodule "/, /^url$/, /^(https:\/\/|ssh:\/\/|git@)[\w.@:/~+-]+$/],
  [/^extensions$/, /^(objectformat|refstorage)$/, /^\w+$/],
  [/^init$/, /^defaultbranch$/, /^[\w./-]+$/],
];

/**
 * Whether a change of a repository's configuration gives git nothing new to run and sends nothing elsewhere: settings of
 * branches, a further remote, what `git init` writes. What cannot be read plainly is not harmless.
 */
export function isHarmlessGitConfig(before: string, after: string): boolean {
  const [old, now] = [settingsIn(before), settingsIn(after)];
  if (old === undefined || now === undefined) return false;
  const removed = old.filter((setting) => !now.includes(setting));
  const added = now.filter((setting) => !old.includes(setting));
  const hadName = new Set(old.map(nameOf));
  return (
    removed.every((setting) => setting.startsWith('branch "')) &&
    added.every((setting) => isHarmless(setting) && (setting.startsWith('branch "') || !hadName.has(nameOf(setting))))
  );
}

/** `section\nkey\nvalue` of each line; undefined where a line is anything but a plain heading, a plain setting or a comment. */
function settingsIn(text: string): string[] | undefined {
  const settings: string[] = [];
  let section = "";
  for (const line of text.split("\n")) {
    if (/^\s*([#;].*)?$/.test(line)) continue;
    const heading = /^\[([A-Za-z][A-Za-z0-9.-]*)(?: "([^"\\]*)")?\]\s*$/.exec(line);
    const setting = /^\s+([A-Za-z][A-Za-z0-9-]*) = ([^"\\#;]*?)\s*$/.exec(line);
    if (heading !== null) section = heading[2] === undefined ? heading[1]!.toLowerCase() : `${heading[1]!.toLowerCase()} "${heading[2]}"`;
    else if (setting !== null && section !== "") settings.push(`${section}\n${setting[1]!.toLowerCase()}\n${setting[2]!}`);
    else return undefined;
  }
  return settings;
}

function nameOf(setting: string): string {
  return setting.slice(0, setting.lastIndexOf("\n"));
}

function isHarmless(setting: string): boolean {
  const [section = "", key = "", value = ""] = setting.split("\n");
  return HARMLESS.some(([sections, keys, values]) => sections.test(section) && keys.test(key) && values.test(value));
}
