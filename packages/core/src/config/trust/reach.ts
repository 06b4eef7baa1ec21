import type { ResolvedAgent } from "../resolve.ts";

/** What an agent can touch, each by a text of its own, and how much it may use up. */
export interface Reach {
  /** Such as `runs on the host`, `network bridge`, `folder /srv (rw)`. */
  touches: ReadonlySet<string>;
  /** More is more reach; what has no limit is infinite. */
  uses: Readonly<Record<string, number>>;
}

/** What a resolved agent can touch and use up beyond its own container. */
export function reachOf(agent: ResolvedAgent): Reach {
  const touches = new Set([
    ...(agent.docker.enabled ? containerReach(agent) : ["the host"]),
    ...hostReach(agent),
  ]);
  return { touches, uses: usesOf(agent) };
}

/** What the second reach has that the first has not. */
export function beyond(base: Reach, other: Reach): string[] {
  const touched = [...other.touches].filter((one) => !base.touches.has(one));
  const used = Object.entries(other.uses).filter(([name, most]) => most > (base.uses[name] ?? 0));
  return [...touched, ...used.map(([name, most]) => `${name} up to ${most}`)];
}

function containerReach({ docker, working_directory, plugins, ...agent }: ResolvedAgent): string[] {
  const { clone } = working_directory;
  return [
    folder(working_directory.path, docker.workspace_mode),
    ...(clone ? [`repository ${clone.repo}`] : []),
    ...docker.volumes.map(({ source, mode }) => folder(source, mode)),
    ...plugins.map((path) => folder(path, "ro")),
    ...reachable(docker.network),
    ...docker.egress.map((one) => `egress ${JSON.stringify(one)}`),
    ...docker.api_reach.map((one) => `API ${one}`),
    ...(docker.auth && docker.auth !== "gateway" ? [`credential by ${docker.auth}`] : []),
    ...(docker.image ? [`image ${docker.image}`] : []),
    ...(docker.user ? [`user ${docker.user}`] : []),
    ...(docker.read_only ? [] : ["writable root file system"]),
    ...docker.tmpfs.map((path) => `tmpfs ${path}`),
    ...agent.setting_sources.map((one) => `settings ${one}`),
  ].flat();
}

/** A folder that can be written can be read. */
function folder(path: string, mode: "ro" | "rw"): string[] {
  return mode === "rw" ? [`folder ${path}`, `folder ${path}, writable`] : [`folder ${path}`];
}

function reachable(network: ResolvedAgent["docker"]["network"]): string[] {
  if (network === "none") return [];
  return network === "host" ? ["network bridge", "network host"] : ["network bridge"];
}

/** What works for the agent on the host, whether it is in a container or not. */
function hostReach(agent: ResolvedAgent): string[] {
  const { hooks, schedules, mcp_servers, chat, work_source, docker } = agent;
  const events = Object.entries(hooks).filter(([, list]) => list.length > 0);
  const servers = Object.entries(mcp_servers).filter(([, { run }]) => run !== "container");
  const rules = agent.host_tools ?? agent;
  return [
    ...events.map(([event, list]) => `hooks ${event} ${JSON.stringify(list)}`),
    ...Object.values(schedules).flatMap(({ gate }) =>
      gate ? [`gate ${JSON.stringify(gate)}`] : [],
    ),
    ...servers.map(([name, server]) => `MCP server ${name} ${JSON.stringify(server)}`),
    ...(docker.enabled && servers.length > 0 ? callable(rules) : []),
    ...(chat ? [`chat ${JSON.stringify(chat)}`] : []),
    ...(work_source ? [`work source ${JSON.stringify(work_source)}`] : []),
    ...agent.may_trigger.map((name) => `agent ${name}`),
    ...(agent.may_schedule ? [`plans of its own ${JSON.stringify(agent.may_schedule)}`] : []),
    ...(agent.metadata_file ? [`metadata ${agent.metadata_file}`] : []),
    ...(agent.credential === "auto" ? [] : [`credential ${agent.credential}`]),
    ...secretsOf(schedules).map((name) => `variable ${name}`),
  ];
}

function callable({
  permission_mode,
  allowed_tools,
}: Pick<ResolvedAgent, "permission_mode" | "allowed_tools">) {
  const all = permission_mode === "bypassPermissions" ? ["every tool of MCP servers"] : [];
  return [...all, ...allowed_tools.map((rule) => `tool ${rule}`)];
}

function secretsOf(schedules: ResolvedAgent["schedules"]): string[] {
  return Object.values(schedules).flatMap((schedule) =>
    schedule.type === "webhook" ? [schedule.signature.secret_env].flat() : [],
  );
}

const unlimited = Number.POSITIVE_INFINITY;

function usesOf(agent: ResolvedAgent): Record<string, number> {
  const { docker, budget, timeouts } = agent;
  return {
    memory: docker.memory,
    cpus: docker.cpus ?? 2,
    disk: docker.disk,
    "disk that is meant to stay free": -docker.min_free_disk,
    "size of a log": agent.max_log_size,
    processes: docker.pids_limit,
    "runs at the same time": agent.max_concurrent,
    "claude processes started ahead": agent.warm,
    "containers started ahead": Number(docker.warm),
    "time of a run": timeouts.wall,
    priority: agent.priority,
    attempts: agent.retry.max_attempts,
    turns: agent.max_turns ?? unlimited,
    "dollars of a run": agent.max_budget_usd ?? unlimited,
    "dollars a day": budget.daily_usd ?? unlimited,
    "jobs a day": budget.daily_jobs ?? unlimited,
    "tokens a day": budget.daily_tokens ?? unlimited,
  };
}
