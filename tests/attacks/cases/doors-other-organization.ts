import { userInfo } from "node:os";
import { toJsonString, type DescMethod } from "@bufbuild/protobuf";
import { createClient, type CallOptions, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { TeamService, TokenScope, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { FactScope, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { BudgetScope, SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { PUBLIC_SERVICES, type PublicService } from "@hlvm/service-edge/src/rpc/public-methods.ts";
import { findingOf, notRun, type AttackCase, type Finding } from "../attack-case.ts";
import { shell, type AttackMesh } from "../attack-mesh.ts";
import { requestFor, type FilledFields } from "../request-for.ts";
import { attempt, forgeTokens } from "../forged-token.ts";

const ME = `user:${userInfo().username}`;
const STRANGER = { organization: "elsewhere", principal: ME, roles: ["developer", "approver", "admin", "security-auditor"] };
const TEAM = "other-organization";
/** Stands in everything that belongs to this organization. */
const MARK = "mark-of-this-organization";
const STREAM_MILLISECONDS = 2_000;

/** Something of every kind that a person has. */
async function ownThings(mesh: AttackMesh, transport: Transport): Promise<FilledFields> {
  const { sessionId, runId } = await mesh.ask(mesh.workspace({ [MARK]: MARK }), "bypassPermissions", [[shell(`echo ${MARK}`)]]);
  await mesh.sessions.updateSession({ sessionId, title: MARK });
  const { token } = await createClient(TokenService, transport).createToken({ label: MARK, scopes: [TokenScope.READ] });
  await createClient(TeamService, transport).createTeam({ name: TEAM });
  const { fact } = await createClient(MemoryService, transport).writeFact({ text: MARK, scope: FactScope.PERSONAL });
  const { factId } = fact!;
  const { changes } = await createClient(MemoryService, transport).getFact({ factId });
  const { changeId } = changes[0]!;
  return { sessionId, runId, tokenId: token!.tokenId, team: TEAM, name: TEAM, factId, changeId, principal: ME, subject: sessionId };
}

/** What a stranger got for it; empty where it was refused. */
async function asStranger(
  mesh: AttackMesh,
  { service, backend }: PublicService,
  method: DescMethod,
  tokens: readonly string[],
  ids: FilledFields,
) {
  const request = requestFor(method.input, ids);
  const answered = await attempt(mesh, backend, service, tokens, async (client, options) => {
    const call = (client as unknown as Record<string, unknown>)[method.localName] as (
      request: unknown,
      options: CallOptions,
    ) => Promise<never> | AsyncIterable<never>;
    if (method.methodKind === "unary") return toJsonString(method.output, await (call(request, options) as Promise<never>));
    let text = "";
    for await (const part of call(request, { ...options, timeoutMs: STREAM_MILLISECONDS }) as AsyncIterable<never>)
      text += toJsonString(method.output, part);
    return text;
  });
  return answered.accepted ? { text: answered.answer, error: "" } : { text: "", error: answered.error };
}

async function everyMethod(mesh: AttackMesh): Promise<Finding> {
  const authorization = `Bearer ${mesh.localToken}`;
  const transport = createConnectTransport({
    baseUrl: mesh.mesh.state.edgeUrl,
    httpVersion: "2",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", authorization);
        return next(request);
      },
    ],
  });
  const ids = await ownThings(mesh, transport);
  const problems: string[] = [];
  const notTaken: string[] = [];
  let called = 0;
  let refusedForm = 0;
  for (const service of PUBLIC_SERVICES) {
    const tokens = await forgeTokens(mesh, "edge", service.backend, STRANGER);
    for (const method of service.service.methods.filter(({ localName }) => service.methods.has(localName))) {
      const name = `${service.service.typeName}/${method.name}`;
      const { text, error } = await asStranger(mesh, service, method, tokens, ids);
      called += 1;
      // What acts for a person takes what the edge signed, too; the group H has such a signature, and tries them.
      const needsDelegation = method.input.field.delegation !== undefined;
      if (error.startsWith("Unauthenticated") && !needsDelegation) notTaken.push(`${name}: ${error}`);
      if (error.startsWith("InvalidArgument")) refusedForm += 1;
      if (text.includes(MARK)) problems.push(`${name} answers ${text.slice(0, 100)}`);
    }
  }
  if (notTaken.length > 0) return notRun(`tokens made by hand are not taken, so that a refusal would say nothing: ${notTaken.join("; ")}`);
  const { session } = await mesh.sessions.getSession({ sessionId: ids.sessionId! }).catch(() => ({ session: undefined }));
  const { tokens } = await createClient(TokenService, transport).listTokens({});
  const { teams } = await createClient(TeamService, transport).listTeams({});
  const { facts } = await createClient(MemoryService, transport).searchFacts({ query: MARK });
  const { budgets } = await createClient(SpendingService, transport).listBudgets({});
  await createClient(TeamService, transport).deleteTeam({ name: TEAM });
  if (session?.title !== MARK) problems.push("our session is gone, or has another title");
  if (tokens.find(({ tokenId }) => tokenId === ids.tokenId)?.revokedAt !== undefined) problems.push("our token is revoked");
  if (!teams.some(({ name, members }) => name === TEAM && members.length === 0)) problems.push("our team is another one");
  if (!facts.some(({ fact }) => fact?.text === MARK)) problems.push("our fact is gone, or another one");
  if (budgets.some(({ scope, subject }) => scope === BudgetScope.SESSION && subject === ids.sessionId))
    problems.push("our session has a budget");
  if (refusedForm > called / 3) problems.push(`${refusedForm} of ${called} requests were malformed and show nothing`);
  return findingOf(
    problems,
    `${called} methods give another organization nothing and change nothing; ${refusedForm} refused the request's form`,
  );
}

export const doorsOtherOrganization: readonly AttackCase[] = [
  { group: "doors", name: "ids of another organization on every public method", run: everyMethod },
];
