import type { Database } from "@hlvm/postgres/database";
import { audienceOf } from "../domain/audience.ts";
import type { Project, ProjectStore, ProjectViewer } from "../domain/projects.ts";

const MOST_LISTED = 1_000;

interface ProjectRow extends Record<string, unknown> {
  project_id: string;
  name: string;
  created_at: Date;
  members: string[];
}

const PROJECTS = `SELECT project_id, name, created_at, coalesce((
    SELECT array_agg(principal ORDER BY principal) FROM project_member AS member
    WHERE member.organization = project.organization AND member.project_id = project.project_id AND NOT is_removed
  ), '{}') AS members FROM project`;

/** Projects and their members. Nobody's rights come from here but by these statements, each with its organization and person. */
export class PostgresProjects implements ProjectStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async isMember({ organization, principal }: ProjectViewer, id: string): Promise<boolean> {
    const sql = "SELECT FROM project_member WHERE organization = $1 AND project_id = $2 AND principal = $3 AND NOT is_removed";
    return (await this.#database.query(sql, [organization, id, principal], "project-member")).length > 0;
  }

  async byPath({ organization, principal }: ProjectViewer, path: string): Promise<string | undefined> {
    const [row] = await this.#database.query<{ project_id: string }>(
      `SELECT project_id FROM project_alias JOIN project_member USING (organization, project_id, principal)
       WHERE organization = $1 AND principal = $2 AND path = $3 AND NOT is_removed`,
      [organization, principal, path],
      "project-by-path",
    );
    return row?.project_id;
  }

  async join({ organization, principal }: ProjectViewer, id: string, name: string, path: string): Promise<"member" | "removed"> {
    return this.#database.transaction(async (queries) => {
      await queries.query("INSERT INTO project (organization, project_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", [
        organization,
        id,
        name,
      ]);
      const [member] = await queries.query<{ is_removed: boolean }>(
        `INSERT INTO project_member (organization, project_id, principal) VALUES ($1, $2, $3)
         ON CONFLICT (organization, project_id, principal) DO UPDATE SET is_removed = project_member.is_removed RETURNING is_removed`,
        [organization, id, principal],
      );
      if (member!.is_removed) return "removed";
      if (path !== "")
        await queries.query(
          `INSERT INTO project_alias (organization, principal, path, project_id) VALUES ($1, $2, $3, $4)
           ON CONFLICT (organization, principal, path) DO UPDATE SET project_id = $4`,
          [organization, principal, path, id],
        );
      return "member";
    });
  }

  async adopt({ organization, principal }: ProjectViewer, from: readonly string[], id: string): Promise<void> {
    const audience = audienceOf(organization, { scope: "project", owner: principal, project: id });
    await this.#database.transaction(async (queries) => {
      for (const project of from) {
        await queries.query("SELECT adopt_project($1, $2, $3, $4, $5)", [organization, principal, project, id, audience]);
        await queries.query("SELECT adopt_pages($1, $2, $3, $4)", [organization, principal, project, id]);
      }
    });
  }

  async list({ organization, principal }: ProjectViewer, all: boolean): Promise<Project[]> {
    const rows = await this.#database.query<ProjectRow>(
      `${PROJECTS} WHERE organization = $1 AND ($3 OR EXISTS (
         SELECT FROM project_member AS mine WHERE mine.organization = project.organization AND mine.project_id = project.project_id
           AND mine.principal = $2 AND NOT mine.is_removed
       )) ORDER BY name, project_id LIMIT ${MOST_LISTED}`,
      [organization, principal, all],
      "project-list",
    );
    return rows.map(projectOf);
  }

  async find(organization: string, id: string): Promise<Project | undefined> {
    const [row] = await this.#database.query<ProjectRow>(
      `${PROJECTS} WHERE organization = $1 AND project_id = $2`,
      [organization, id],
      "project-find",
    );
    return row && projectOf(row);
  }

  async setMember(organization: string, id: string, principal: string, isMember: boolean): Promise<void> {
    await this.#database.query(
      `INSERT INTO project_member (organization, project_id, principal, is_removed) VALUES ($1, $2, $3, $4)
       ON CONFLICT (organization, project_id, principal) DO UPDATE SET is_removed = $4`,
      [organization, id, principal, !isMember],
      "project-set-member",
    );
  }
}

function projectOf({ project_id: id, name, members, created_at: createdAt }: ProjectRow): Project {
  return { id, name, members, createdAt };
}
