import { createLog } from "@hlvm/log/create-log";
import { failSpan, inSpan } from "@hlvm/telemetry/span";
import { startTelemetry } from "@hlvm/telemetry/start-telemetry";
import { traceparentOf } from "@hlvm/telemetry/trace-context";
import { EXIT_OK } from "./command.ts";
import type { Screen } from "./terminal/screen.ts";

/**
 * Runs a command as the first span of its trace, and sends that before the command ends. For where
 * OTEL_EXPORTER_OTLP_ENDPOINT is set: the SDK takes a tenth of a second to load.
 * @param name of the command: `hlvm ask`
 * @param work is given the `traceparent` for its calls, and returns the exit code
 */
export async function traceCommand(
  name: string,
  environment: NodeJS.ProcessEnv,
  screen: Screen,
  work: (traceparent: string) => Promise<number>,
): Promise<number> {
  const warnings = { write: (line: string) => screen.note((JSON.parse(line) as { msg: string }).msg, "warning") };
  const telemetry = await startTelemetry("cli", createLog("cli", "warn", warnings), environment);
  try {
    return await inSpan(name, {}, async (span) => {
      const exitCode = await work(traceparentOf(span.spanContext()));
      span.setAttribute("process.exit.code", exitCode);
      if (exitCode !== EXIT_OK) failSpan(span, String(exitCode));
      return exitCode;
    });
  } finally {
    await telemetry.close();
  }
}
