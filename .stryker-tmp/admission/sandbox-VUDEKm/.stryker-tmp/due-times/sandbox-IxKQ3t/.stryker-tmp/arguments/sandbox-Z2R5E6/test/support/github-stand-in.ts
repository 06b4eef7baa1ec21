import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface StandInIssue {
  number: number;
  title: string;
  body: string;
  state: "open" | "closed";
  user: { login: string };
  html_url: string;
  labels: { name: string }[];
  assignees: string[];
  comments: { body: string }[];
}

interface Commit {
  message: string;
  parents: string[];
  committer: { date: string };
}

type Answer = [status: number, data?: unknown, headers?: Record<string, string>];
type Route = [
  method: string,
  path: RegExp,
  (matches: string[], body: never, query: URLSearchParams) => Answer,
];

/** The part of GitHub's REST API that a work source needs, in memory, with compare-and-set refs. */
export class GitHubStandIn {
  readonly issues = new Map<number, StandInIssue>();
  readonly refs = new Map<string, string>();
  readonly commits = new Map<string, Commit>();
  readonly requests: { method: string; path: string; authorization: string | undefined }[] = [];
  /** Responses that replace those of the routes, one per request. */
  readonly faults: ((
    method: string,
    path: string,
  ) => Answer | "cut" | "lose-answer" | "silence" | undefined)[] = [];
  /** The difference of the server's clock to the real time, in milliseconds. */
  clockOffsetMs = 0;
  private server = createServer((request, response) => void this.serve(request, response));

  static async start(): Promise<GitHubStandIn> {
    const github = new GitHubStandIn();
    await new Promise<void>((done) => github.server.listen(0, "127.0.0.1", done));
    return github;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  addIssue(
    number: number,
    { title = `Issue ${number}`, body = "", labels = ["ready"] } = {},
  ): StandInIssue {
    const issue: StandInIssue = {
      number,
      title,
      body,
      state: "open",
      user: { login: "somebody" },
      html_url: `https://github.example/o/r/issues/${number}`,
      labels: labels.map((name) => ({ name })),
      assignees: [],
      comments: [],
    };
    this.issues.set(number, issue);
    return issue;
  }

  labelsOfIssue(number: number): string[] {
    return this.issues.get(number)?.labels.map(({ name }) => name) ?? [];
  }

  commentsOnIssue(number: number): string[] {
    return this.issues.get(number)?.comments.map(({ body }) => body) ?? [];
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", headers } = request;
    const url = new URL(request.url ?? "/", "http://github");
    this.requests.push({ method, path: url.pathname, authorization: headers.authorization });
    let text = "";
    for await (const part of request) text += part;
    const fault = this.faults.map((one) => one(method, url.pathname)).find(Boolean);
    if (fault === "silence") return;
    if (fault === "cut") return void response.destroy();
    const answer =
      fault && fault !== "lose-answer"
        ? fault
        : this.answer(method, url, text ? JSON.parse(text) : {});
    if (fault === "lose-answer") return void response.destroy();
    const [status, data, more] = answer;
    const date = new Date(Date.now() + this.clockOffsetMs).toUTCString();
    response.writeHead(status, { date, "content-type": "application/json", ...more });
    response.end(data === undefined ? undefined : JSON.stringify(data));
  }

  private answer(method: string, url: URL, body: object): Answer {
    for (const [routeMethod, path, handle] of this.routes) {
      const matches = routeMethod === method ? path.exec(url.pathname) : null;
      if (matches)
        return handle(matches.slice(1).map(decodeURIComponent), body as never, url.searchParams);
    }
    return [404, { message: "Not Found" }];
  }

  private readonly routes: Route[] = [
    ["GET", /^\/user$/, () => [200, { login: "herd-bot" }]],
    ["GET", /^\/repos\/o\/r\/commits\/HEAD$/, () => [200, { commit: { tree: { sha: "tree" } } }]],
    ["GET", /^\/repos\/o\/r\/issues$/, (_, __, query) => this.listIssues(query)],
    ["GET", /^\/repos\/o\/r\/issues\/(\d+)$/, ([n]) => this.withIssue(n, (issue) => [200, issue])],
    [
      "PATCH",
      /^\/repos\/o\/r\/issues\/(\d+)$/,
      ([n], body: Partial<StandInIssue>) =>
        this.withIssue(n, (issue) => [
          200,
          Object.assign(issue, { state: body.state ?? issue.state }),
        ]),
    ],
    [
      "POST",
      /^\/repos\/o\/r\/issues\/(\d+)\/labels$/,
      ([n], { labels }: { labels: string[] }) =>
        this.withIssue(n, (issue) => {
          for (const name of labels) {
            if (!issue.labels.some((one) => one.name === name)) issue.labels.push({ name });
          }
          return [200, issue.labels];
        }),
    ],
    [
      "DELETE",
      /^\/repos\/o\/r\/issues\/(\d+)\/labels\/([^/]+)$/,
      ([n, label]) =>
        this.withIssue(n, (issue) => {
          const before = issue.labels.length;
          issue.labels = issue.labels.filter(({ name }) => name !== label);
          return issue.labels.length < before ? [200, issue.labels] : [404, {}];
        }),
    ],
    [
      "GET",
      /^\/repos\/o\/r\/issues\/(\d+)\/comments$/,
      ([n]) => this.withIssue(n, (issue) => [200, issue.comments]),
    ],
    [
      "POST",
      /^\/repos\/o\/r\/issues\/(\d+)\/comments$/,
      ([n], { body }: { body: string }) =>
        this.withIssue(n, (issue) => {
          issue.comments.push({ body });
          return [201, { body }];
        }),
    ],
    [
      "POST",
      /^\/repos\/o\/r\/issues\/(\d+)\/assignees$/,
      ([n], { assignees }: { assignees: string[] }) =>
        this.withIssue(n, (issue) => {
          issue.assignees = [...new Set([...issue.assignees, ...assignees])];
          return [201, issue];
        }),
    ],
    [
      "DELETE",
      /^\/repos\/o\/r\/issues\/(\d+)\/assignees$/,
      ([n], { assignees }: { assignees: string[] }) =>
        this.withIssue(n, (issue) => {
          issue.assignees = issue.assignees.filter((one) => !assignees.includes(one));
          return [200, issue];
        }),
    ],
    [
      "POST",
      /^\/repos\/o\/r\/git\/commits$/,
      (_, { message, parents }: Commit) => {
        const date = new Date(Date.now() + this.clockOffsetMs).toISOString();
        const salt = `${message}${parents}${date}${this.commits.size}`;
        const sha = createHash("sha1").update(salt).digest("hex");
        this.commits.set(sha, { message, parents, committer: { date } });
        return [201, { sha }];
      },
    ],
    [
      "GET",
      /^\/repos\/o\/r\/git\/commits\/(\w+)$/,
      ([sha = ""]) =>
        this.commits.has(sha) ? [200, { sha, ...this.commits.get(sha) }] : [404, {}],
    ],
    [
      "POST",
      /^\/repos\/o\/r\/git\/refs$/,
      (_, { ref, sha }: { ref: string; sha: string }) => {
        if (!/^refs\/.+\/.+/.test(ref) || !this.commits.has(sha))
          return [422, { message: "Invalid" }];
        if (this.refs.has(ref)) return [422, { message: "Reference already exists" }];
        this.refs.set(ref, sha);
        return [201, { ref, object: { sha } }];
      },
    ],
    [
      "PATCH",
      /^\/repos\/o\/r\/git\/refs\/(.+)$/,
      ([name], { sha, force }: { sha: string; force: boolean }) => {
        const now = this.refs.get(`refs/${name}`);
        if (now === undefined) return [422, { message: "Reference does not exist" }];
        if (!force && !this.isDescendant(sha, now))
          return [422, { message: "Update is not a fast forward" }];
        this.refs.set(`refs/${name}`, sha);
        return [200, { ref: `refs/${name}`, object: { sha } }];
      },
    ],
    [
      "DELETE",
      /^\/repos\/o\/r\/git\/refs\/(.+)$/,
      ([name]) =>
        this.refs.delete(`refs/${name}`) ? [204] : [422, { message: "Reference does not exist" }],
    ],
    [
      "GET",
      /^\/repos\/o\/r\/git\/ref\/(.+)$/,
      ([name]) => {
        const sha = this.refs.get(`refs/${name}`);
        return sha ? [200, { ref: `refs/${name}`, object: { sha } }] : [404, {}];
      },
    ],
    [
      "GET",
      /^\/repos\/o\/r\/git\/matching-refs\/(.+)$/,
      ([name]) => [
        200,
        [...this.refs]
          .filter(([ref]) => ref.startsWith(`refs/${name}`))
          .map(([ref, sha]) => ({ ref, object: { sha } })),
      ],
    ],
  ];

  private listIssues(query: URLSearchParams): Answer {
    const wanted = query.get("labels")?.split(",") ?? [];
    const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 30)];
    const found = [...this.issues.values()]
      .filter(({ state }) => state === query.get("state"))
      .filter(({ number }) => wanted.every((label) => this.labelsOfIssue(number).includes(label)));
    return [200, found.slice((page - 1) * size, page * size)];
  }

  private withIssue(number: string | undefined, handle: (issue: StandInIssue) => Answer): Answer {
    const issue = this.issues.get(Number(number));
    return issue ? handle(issue) : [404, { message: "Not Found" }];
  }

  private isDescendant(sha: string, from: string): boolean {
    if (sha === from) return true;
    return (
      this.commits.get(sha)?.parents.some((parent) => this.isDescendant(parent, from)) ?? false
    );
  }
}
