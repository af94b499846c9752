/** What we gave another agent stands in its files, too: it is no evidence of anything. */
const OURS = /<hlvm-memory\b[^>]{0,200}>[^]*?(?:<\/hlvm-memory>|$)/g;
const OUR_HEADING = /^# Your Memory$[^]*?(?=^# |(?![^]))/gm;
/** What harnesses put around what a person said. */
const REMINDERS = /<(system-reminder|ide_opened_file|ide_selection)>[^]*?(?:<\/\1>|$)/g;

const OUR_TOOL =
  /^(?:mcp__hlvm[\w-]*__.*|hlvm[_-].*|(?:mcp__[\w-]+__)?(?:memory_(?:write|search|edit)|(?:recall|get|cite)_sessions?|wiki_\w+))$/;

/** A text without what memory, or the tool itself, put into it. */
export function withoutInjected(text: string): string {
  return text.replace(OURS, "").replace(OUR_HEADING, "").replace(REMINDERS, "").trim();
}

/** Whether a tool's calls and results only repeat what memory holds. */
export function isOurTool(name: string): boolean {
  return OUR_TOOL.test(name);
}
