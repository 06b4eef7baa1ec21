import { z } from "zod";
import type { WorkItem } from "../../jobs/admission/work-item.ts";
import type { GitHubApi } from "./github-api.ts";

const maxPages = 5;
const pageSize = 100;

/** The issues of a repository, as a work source needs them. */
export class GitHubIssues {
  private login: string | null | undefined;

  constructor(
    private readonly api: GitHubApi,
    private readonly repo: string,
  ) {}

  /** Open issues with all these labels, oldest first, read page by page. */
  async *listOpen(labels: readonly string[]): AsyncGenerator<WorkItem> {
    const wanted = encodeURIComponent(labels.join(","));
    for (let page = 1; page <= maxPages; page++) {
      const query = `state=open&labels=${wanted}&sort=created&direction=asc`;
      const path = `/repos/${this.repo}/issues?${query}&per_page=${pageSize}&page=${page}`;
      const { data } = await this.api.call("GET", path, [200]);
      const issues = z.array(issueSchema).parse(data);
      for (const issue of issues) if (!issue.pull_request) yield toWorkItem(issue);
      if (issues.length < pageSize) return;
    }
  }

  /** Undefined if the issue is not open. */
  async getOpen(item: string): Promise<WorkItem | undefined> {
    const { status, data } = await this.api.call("GET", this.issuePath(item), [200, 404, 410]);
    if (status !== 200) return undefined;
    const issue = issueSchema.parse(data);
    return issue.state === "open" && !issue.pull_request ? toWorkItem(issue) : undefined;
  }

  async addLabel(item: string, name: string): Promise<void> {
    await this.api.call("POST", `${this.issuePath(item)}/labels`, [200], { labels: [name] });
  }

  async removeLabel(item: string, name: string): Promise<void> {
    const path = `${this.issuePath(item)}/labels/${encodeURIComponent(name)}`;
    await this.api.call("DELETE", path, [200, 204, 404]);
  }

  /** Writes a comment once: a comment with the same marker is not written again. */
  async addCommentOnce(item: string, text: string, marker: string): Promise<void> {
    const hiddenMarker = `<!-- herdctl ${marker} -->`;
    const path = `${this.issuePath(item)}/comments`;
    for (let page = 1; page <= maxPages; page++) {
      const { data } = await this.api.call(
        "GET",
        `${path}?per_page=${pageSize}&page=${page}`,
        [200],
      );
      const comments = z.array(z.object({ body: z.string().nullish() })).parse(data);
      if (comments.some(({ body }) => body?.includes(hiddenMarker))) return;
      if (comments.length < pageSize) break;
    }
    await this.api.call("POST", path, [201], { body: `${text}\n\n${hiddenMarker}` });
  }

  /**
   * Assigns the issue to the user of the token, if the token belongs to a user who can be assigned.
   */
  async assign(item: string): Promise<void> {
    const login = await this.currentLogin();
    if (login === null) return;
    const path = `${this.issuePath(item)}/assignees`;
    await this.api.call("POST", path, [201, 403, 404, 422], { assignees: [login] });
  }

  async unassign(item: string): Promise<void> {
    const login = await this.currentLogin();
    if (login === null) return;
    const path = `${this.issuePath(item)}/assignees`;
    await this.api.call("DELETE", path, [200, 403, 404, 422], { assignees: [login] });
  }

  async close(item: string): Promise<void> {
    const body = { state: "closed", state_reason: "completed" };
    await this.api.call("PATCH", this.issuePath(item), [200], body);
  }

  /** The token of an app belongs to no user. */
  private async currentLogin(): Promise<string | null> {
    if (this.login !== undefined) return this.login;
    const { status, data } = await this.api.call("GET", "/user", [200, 401, 403, 404]);
    this.login = status === 200 ? z.object({ login: z.string() }).parse(data).login : null;
    return this.login;
  }

  private issuePath(item: string): string {
    return `/repos/${this.repo}/issues/${item}`;
  }
}

const issueSchema = z.object({
  number: z.number().int(),
  title: z.string(),
  body: z.string().nullish(),
  html_url: z.string().nullish(),
  state: z.string(),
  user: z.object({ login: z.string() }).nullish(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
  pull_request: z.unknown().optional(),
});

function toWorkItem(issue: z.infer<typeof issueSchema>): WorkItem {
  return {
    id: String(issue.number),
    title: issue.title,
    body: issue.body ?? "",
    url: issue.html_url ?? null,
    author: issue.user?.login ?? null,
    labels: issue.labels.flatMap((label) =>
      typeof label === "string" ? label : (label.name ?? []),
    ),
  };
}
