import { z } from "zod";
import type { GitHubApi } from "./github-api.ts";
import type { WorkItem } from "./work-source.ts";

const mostPages = 5;
const perPage = 100;

/** The issues of a repository, as far as a work source needs them. */
export class GitHubIssues {
  private login: string | null | undefined;

  constructor(
    private readonly api: GitHubApi,
    private readonly repo: string,
  ) {}

  /** Open ones with all these labels, the oldest first, a page at a time. */
  async *open(labels: readonly string[]): AsyncGenerator<WorkItem> {
    const wanted = encodeURIComponent(labels.join(","));
    for (let page = 1; page <= mostPages; page++) {
      const query = `state=open&labels=${wanted}&sort=created&direction=asc`;
      const path = `/repos/${this.repo}/issues?${query}&per_page=${perPage}&page=${page}`;
      const { data } = await this.api.call("GET", path, [200]);
      const issues = z.array(issueSchema).parse(data);
      for (const issue of issues) if (!issue.pull_request) yield itemOf(issue);
      if (issues.length < perPage) return;
    }
  }

  /** Undefined when it is not open. */
  async get(item: string): Promise<WorkItem | undefined> {
    const { status, data } = await this.api.call("GET", this.at(item), [200, 404, 410]);
    if (status !== 200) return undefined;
    const issue = issueSchema.parse(data);
    return issue.state === "open" && !issue.pull_request ? itemOf(issue) : undefined;
  }

  async label(item: string, name: string): Promise<void> {
    await this.api.call("POST", `${this.at(item)}/labels`, [200], { labels: [name] });
  }

  async unlabel(item: string, name: string): Promise<void> {
    const path = `${this.at(item)}/labels/${encodeURIComponent(name)}`;
    await this.api.call("DELETE", path, [200, 204, 404]);
  }

  /** Once: a comment with the same mark is found again and not written twice. */
  async comment(item: string, text: string, mark: string): Promise<void> {
    const hidden = `<!-- herdctl ${mark} -->`;
    const path = `${this.at(item)}/comments`;
    for (let page = 1; page <= mostPages; page++) {
      const { data } = await this.api.call(
        "GET",
        `${path}?per_page=${perPage}&page=${page}`,
        [200],
      );
      const comments = z.array(z.object({ body: z.string().nullish() })).parse(data);
      if (comments.some(({ body }) => body?.includes(hidden))) return;
      if (comments.length < perPage) break;
    }
    await this.api.call("POST", path, [201], { body: `${text}\n\n${hidden}` });
  }

  /** To whoever the token stands for, if it stands for somebody who can be assigned. */
  async assign(item: string): Promise<void> {
    const login = await this.whoAmI();
    if (login === null) return;
    const path = `${this.at(item)}/assignees`;
    await this.api.call("POST", path, [201, 403, 404, 422], { assignees: [login] });
  }

  async unassign(item: string): Promise<void> {
    const login = await this.whoAmI();
    if (login === null) return;
    const path = `${this.at(item)}/assignees`;
    await this.api.call("DELETE", path, [200, 403, 404, 422], { assignees: [login] });
  }

  async close(item: string): Promise<void> {
    const body = { state: "closed", state_reason: "completed" };
    await this.api.call("PATCH", this.at(item), [200], body);
  }

  /** The token of an app stands for nobody. */
  private async whoAmI(): Promise<string | null> {
    if (this.login !== undefined) return this.login;
    const { status, data } = await this.api.call("GET", "/user", [200, 401, 403, 404]);
    this.login = status === 200 ? z.object({ login: z.string() }).parse(data).login : null;
    return this.login;
  }

  private at(item: string): string {
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

function itemOf(issue: z.infer<typeof issueSchema>): WorkItem {
  return {
    id: String(issue.number),
    title: issue.title,
    body: issue.body ?? "",
    url: issue.html_url ?? null,
    author: issue.user?.login ?? null,
    labels: issue.labels.flatMap((one) => (typeof one === "string" ? one : (one.name ?? []))),
  };
}
