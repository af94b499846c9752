import { commandTools } from "./command-tools.ts";
import { fileTools } from "./file-tools.ts";
import { memoryTools } from "./memory-tools.ts";
import { platformTools } from "./platform-tools.ts";
import { sessionTools } from "./session-tools.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import { transcriptTools } from "./transcript-tools.ts";
import { wikiTools } from "./wiki-tools.ts";
import { workerTools } from "./worker-tools.ts";

/** Every tool that comes with the platform, in the order in which a model is shown them: it never changes within a session. */
export const nativeTools: readonly ToolDefinition[] = [
  ...fileTools,
  ...commandTools,
  ...memoryTools,
  ...sessionTools,
  ...workerTools,
  ...transcriptTools,
  ...wikiTools,
];

const byName = new Map([...nativeTools, ...platformTools].map((tool) => [tool.name, tool]));

/** Also one that no model is shown. */
export function findNativeTool(name: string): ToolDefinition | undefined {
  return byName.get(name);
}
