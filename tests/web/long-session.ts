import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { exportLine, sessionLine } from "@hlvm/ndjson/session-line";
import { EventSchema, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionSchema } from "@hlvm/proto/hlvm/session/v1/session_pb";

type Payload = NonNullable<MessageInitShape<typeof EventSchema>["payload"]>;

const TURNS_A_RUN = 20;
const SESSION = "5f0c4b1e-7a93-4b32-8f0a-0d7f6c1f2a11";

/** The export of a session of so many events, to be imported: runs of twenty turns, each of which answers and calls a tool. */
export function longSession(events: number, title: string): string {
  const at = new Date();
  const payloads: { payload: Payload; run: number; turn: number }[] = [];
  for (let run = 1; payloads.length < events; run++) {
    payloads.push({ run, turn: 0, payload: { case: "userMessage", value: { text: `Question ${run} of ${title}` } } });
    for (let turn = 1; turn <= TURNS_A_RUN && payloads.length < events - 1; turn++)
      payloads.push(...turnOf(run, turn).map((payload) => ({ run, turn, payload })));
    payloads.push({
      run,
      turn: TURNS_A_RUN,
      payload: { case: "runStopped", value: { reason: StopReason.COMPLETED, text: `Answer ${run}` } },
    });
  }
  const lines: (object | undefined)[] = [
    sessionLine(create(SessionSchema, { sessionId: SESSION, title, createdAt: timestampFromDate(at) })),
  ];
  for (const [index, { payload, run, turn }] of payloads.slice(0, events).entries()) {
    const runId = `00000000-0000-4000-8000-${String(run).padStart(12, "0")}`;
    lines.push(
      exportLine(
        create(EventSchema, { payload, runId, turn, sequence: BigInt(index + 1), at: timestampFromDate(at), principal: "user:ada" }),
      ),
    );
  }
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

function turnOf(run: number, turn: number): Payload[] {
  const callId = `00000000-0000-4000-8000-${String(run).padStart(12, "0")}.${turn}.1`;
  const command = `cat file-${turn}.txt`;
  const argumentsJson = JSON.stringify({ command });
  const text = `Step ${turn} of question ${run}: I look at \`file-${turn}.txt\`.`;
  const content = `line one of ${turn}\nline two\n`;
  return [
    { case: "assistantMessage", value: { text } },
    { case: "toolSelected", value: { callId, tool: "shell_exec", argumentsJson } },
    { case: "toolEnd", value: { callId, tool: "shell_exec", result: { success: true, content, exitCode: 0, durationMilliseconds: 12 } } },
  ];
}
