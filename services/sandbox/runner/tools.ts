import { failureOf } from "./failure-of.ts";
import { ToolFailure, type Tool, type ToolAnswer, type ToolContext } from "./tool.ts";
import { editFile } from "./tools/edit-file.ts";
import { fileStats } from "./tools/file-stats.ts";
import { listFiles } from "./tools/list-files.ts";
import { readFile } from "./tools/read-file.ts";
import { searchCode } from "./tools/search-code.ts";
import { writeFile } from "./tools/write-file.ts";

const tools: Readonly<Record<string, Tool<never>>> = {
  read_file: readFile,
  list_files: listFiles,
  file_stats: fileStats,
  write_file: writeFile,
  edit_file: editFile,
  search_code: searchCode,
};

/** Runs a tool by its name. Never throws: what goes wrong is an answer that the model can act on. */
export async function runTool(name: string, argumentsJson: string, context: ToolContext): Promise<ToolAnswer> {
  try {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (tool === undefined) throw new ToolFailure("unavailable", `The sandbox has no tool ${name}.`);
    return await tool(JSON.parse(argumentsJson) as never, context);
  } catch (thrown) {
    const failure = failureOf(thrown, name);
    return { content: failure.message, summary: failure.message.split("\n")[0]!, errorCode: failure.errorCode };
  }
}
