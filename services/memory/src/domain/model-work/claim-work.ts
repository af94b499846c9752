import { sessionExcerpt } from "@hlvm/transcripts/labels/session-excerpt";
import type { ProjectStore } from "../projects.ts";
import type { Viewer } from "../viewer.ts";
import type { ModelWorkStore, WorkClaim } from "./model-work.ts";

/** Items that turn out to have nothing to ask about, one after the other; then the next call goes on. */
const MOST_PASSED_OVER = 50;

export interface WorkPorts {
  readonly work: ModelWorkStore;
  readonly projects: ProjectStore;
}

/** What a model is asked about. */
export interface AskedWork {
  readonly claimId: string;
  readonly kind: "session" | "fact";
  /** Turns as JSON, or the fact's text. */
  readonly text: string;
}

/** @returns undefined where nothing of the viewer's waits */
export async function claimWork(
  { work, projects }: WorkPorts,
  viewer: Viewer,
  { maxCharacters, seconds }: { readonly maxCharacters: number; readonly seconds: number },
): Promise<AskedWork | undefined> {
  for (let passed = 0; passed < MOST_PASSED_OVER; passed++) {
    const claim = await work.claim(viewer, seconds);
    if (claim === undefined) return undefined;
    const inProject = await viewerOfClaim(projects, viewer, claim);
    const text = await work.withClaimed(inProject, claim.claimId, async (item) => {
      const asked = item.kind === "session" ? sessionExcerpt(await item.turns(), maxCharacters) : ((await item.fact())?.fact.text ?? "");
      if (asked === "") await item.finish();
      return asked.slice(0, maxCharacters);
    });
    if (text) return { claimId: claim.claimId, kind: claim.kind, text };
  }
  return undefined;
}

/** Who sees the item: a project's facts only while they are a member of it. */
export async function viewerOfClaim(projects: ProjectStore, viewer: Viewer, { claimId, project }: WorkClaim): Promise<Viewer> {
  const isMember = project !== "" && (await projects.isMember(viewer, project));
  return { ...viewer, project: isMember ? project : "", call: { sessionId: "", runId: "", ...viewer.call, callId: claimId } };
}
