/** Where the thread of an entity, a fact or a session is shown. */
export function threadPath(name: string, project: string): string {
  return `/memory/thread?${new URLSearchParams({ q: name, project }).toString()}`;
}
