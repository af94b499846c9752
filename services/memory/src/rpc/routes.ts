import type { ConnectRouter } from "@connectrpc/connect";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import type { ToolPorts } from "../domain/execute-tool.ts";
import type { FactPorts } from "../domain/projects.ts";
import { editFactHandler } from "./edit-fact.ts";
import { executeToolHandler } from "./execute-tool.ts";
import { getFactHandler } from "./get-fact.ts";
import { listFactChangesHandler, listFactsHandler } from "./list-facts.ts";
import { listProjectsHandler, registerProjectHandler, setProjectMemberHandler } from "./projects.ts";
import { acceptProposalHandler, listProposalsHandler, rejectProposalHandler } from "./proposals.ts";
import { recallHandler } from "./recall.ts";
import {
  auditFactsHandler,
  getMemoryStatsHandler,
  getRecallHandler,
  listRecallsHandler,
  markRecallHandler,
  recordAnswerHandler,
} from "./memory-stats.ts";
import { searchFactsHandler } from "./search-facts.ts";
import { undoFactChangeHandler } from "./undo-fact-change.ts";
import { watchFactsHandler } from "./watch-facts.ts";
import { writeFactHandler } from "./write-fact.ts";
import { writeFactsHandler } from "./write-facts.ts";

export function memoryRoutes(ports: ToolPorts & FactPorts): (router: ConnectRouter) => void {
  return (router) => {
    router.service(MemoryService, {
      writeFact: writeFactHandler(ports),
      writeFacts: writeFactsHandler(ports),
      searchFacts: searchFactsHandler(ports),
      editFact: editFactHandler(ports),
      listFacts: listFactsHandler(ports),
      listFactChanges: listFactChangesHandler(ports),
      getFact: getFactHandler(ports),
      undoFactChange: undoFactChangeHandler(ports),
      watchFacts: watchFactsHandler(ports),
      listProposals: listProposalsHandler(ports),
      acceptProposal: acceptProposalHandler(ports),
      rejectProposal: rejectProposalHandler(ports),
      registerProject: registerProjectHandler(ports.projects),
      listProjects: listProjectsHandler(ports.projects),
      addProjectMember: setProjectMemberHandler(ports.projects, true),
      removeProjectMember: setProjectMemberHandler(ports.projects, false),
      recall: recallHandler(ports),
      executeTool: executeToolHandler(ports),
    });
    router.service(MemoryStatsService, {
      recordAnswer: recordAnswerHandler(ports),
      getMemoryStats: getMemoryStatsHandler(ports),
      listRecalls: listRecallsHandler(ports),
      getRecall: getRecallHandler(ports),
      markRecall: markRecallHandler(ports),
      auditFacts: auditFactsHandler(ports),
    });
  };
}
