import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { SessionSchema, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { groupSessions } from "./group-sessions.ts";

const NOW = new Date(2026, 10, 22, 12);
const at = (sessionId: string, hoursAgo: number, runningRunId = ""): Session =>
  create(SessionSchema, { sessionId, runningRunId, updatedAt: timestampFromDate(new Date(NOW.getTime() - hoursAgo * 3_600_000)) });

it("puts first what needs somebody, then what runs, then the days", () => {
  const sessions = [at("today", 1), at("asked", 30, "r"), at("runs", 50, "r"), at("yesterday", 20), at("earlier", 60)];
  expect(
    groupSessions(sessions, new Set(["asked"]), NOW).map((group) => [group.name, ...group.sessions.map((one) => one.sessionId)]),
  ).toEqual([
    ["Needs somebody", "asked"],
    ["Running", "runs"],
    ["Today", "today"],
    ["Yesterday", "yesterday"],
    ["Earlier", "earlier"],
  ]);
  expect(groupSessions([], new Set(), NOW)).toEqual([]);
});
