import { mayUseLoginByDefault, type ResolvedAgent } from "../resolve-agent.ts";
import { isNamedVolume } from "../schema/docker.ts";

/** The resources that an agent can access, each as a unique text, and its limits. */
export interface Reach {
  /** Such as `the host`, `network bridge` or `folder /srv, writable`. */
  resources: ReadonlySet<string>;
  /** A larger number is more reach; no limit is `Infinity`. */
  limits: Readonly<Record<string, number>>;
}

/** The reach of a resolved agent outside its container. */
export function computeReach(agent: ResolvedAgent): Reach {
  const resources = new Set([
    ...(agent.docker.enabled ? containerResources(agent) : ["the host"]),
    ...hostResources(agent),
  ]);
  return { resources, limits: computeLimits(agent) };
}

/** The resources and limits of the second reach that exceed the first. */
export function findExcessReach(base: Reach, other: Reach): string[] {
  const extraResources = [...other.resources].filter((resource) => !base.resources.has(resource));
  const exceededLimits = Object.entries(other.limits).filter(
    ([name, limit]) => limit > (base.limits[name] ?? 0),
  );
  return [...extraResources, ...exceededLimits.map(([name, limit]) => `${name} up to ${limit}`)];
}

function containerResources({
  docker,
  working_directory,
  plugins,
  ...agent
}: ResolvedAgent): string[] {
  const { clone } = working_directory;
  return [
    folderAccess(working_directory.path, docker.workspace_mode),
    ...(clone ? [`repository ${clone.repo}`] : []),
    ...docker.volumes.map((volume) =>
      isNamedVolume(volume)
        ? folderAccess(`volume ${volume.source}`, volume.mode)
        : folderAccess(volume.source, volume.mode),
    ),
    ...plugins.map((path) => folderAccess(path, "ro")),
    ...agent.additional_directories.map((path) => folderAccess(path, "ro")),
    ...(agent.project_config_root ? [folderAccess(agent.project_config_root, "ro")] : []),
    ...networkAccess(docker.network),
    ...docker.egress.map((entry) => `egress ${JSON.stringify(entry)}`),
    ...docker.api_features.map((feature) => `API ${feature}`),
    ...(docker.auth && docker.auth !== "gateway" ? [`credential by ${docker.auth}`] : []),
    ...(mayUseLoginByDefault({ docker, ...agent }) ? ["credential by mount"] : []),
    ...(docker.image ? [`image ${docker.image}`] : []),
    ...(docker.user ? [`user ${docker.user}`] : []),
    ...(docker.read_only ? [] : ["writable root file system"]),
    ...docker.tmpfs.map((path) => `tmpfs ${path}`),
    ...agent.setting_sources.map((source) => `settings ${source}`),
  ].flat();
}

/** A writable folder is also readable. */
function folderAccess(path: string, mode: "ro" | "rw"): string[] {
  return mode === "rw" ? [`folder ${path}`, `folder ${path}, writable`] : [`folder ${path}`];
}

function networkAccess(network: ResolvedAgent["docker"]["network"]): string[] {
  if (network === "none") return [];
  return network === "host" ? ["network bridge", "network host"] : ["network bridge"];
}

/** Resources on the host that serve the agent, whether or not it runs in a container. */
function hostResources(agent: ResolvedAgent): string[] {
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
    ...(docker.enabled && servers.length > 0 ? toolAccess(rules) : []),
    ...(chat ? [`chat ${JSON.stringify(chat)}`] : []),
    ...(work_source ? [`work source ${JSON.stringify(work_source)}`] : []),
    ...agent.may_trigger.map((name) => `agent ${name}`),
    ...(agent.may_schedule ? [`planned runs ${JSON.stringify(agent.may_schedule)}`] : []),
    ...(agent.metadata_file ? [`metadata ${agent.metadata_file}`] : []),
    ...(agent.provider ? [`provider ${JSON.stringify(agent.provider)}`] : []),
    ...(agent.credential === "auto" ? [] : [`credential ${agent.credential}`]),
    ...listSecretVariables(schedules).map((name) => `variable ${name}`),
  ];
}

function toolAccess({
  permission_mode,
  allowed_tools,
}: Pick<ResolvedAgent, "permission_mode" | "allowed_tools">) {
  const all = permission_mode === "bypassPermissions" ? ["every tool of MCP servers"] : [];
  return [...all, ...allowed_tools.map((rule) => `tool ${rule}`)];
}

function listSecretVariables(schedules: ResolvedAgent["schedules"]): string[] {
  return Object.values(schedules).flatMap((schedule) =>
    schedule.type === "webhook" ? [schedule.signature.secret_env].flat() : [],
  );
}

const unlimited = Number.POSITIVE_INFINITY;

function computeLimits(agent: ResolvedAgent): Record<string, number> {
  const { docker, budget, timeouts } = agent;
  return {
    memory: docker.memory,
    cpus: docker.cpus ?? 2,
    disk: docker.disk,
    "minimum free disk": -docker.min_free_disk,
    "size of a log": agent.max_log_size,
    processes: docker.pids_limit,
    "runs at the same time": agent.max_concurrent,
    "claude processes started before their jobs": agent.keep_alive.processes,
    "idle time of a session": agent.keep_alive.sessions,
    "time of a run": timeouts.total,
    priority: agent.priority,
    attempts: agent.retry.max_attempts,
    turns: agent.max_turns ?? unlimited,
    "dollars of a run": agent.max_budget_usd ?? unlimited,
    "dollars a day": budget.daily_usd ?? unlimited,
    "jobs a day": budget.daily_jobs ?? unlimited,
    "tokens a day": budget.daily_tokens ?? unlimited,
  };
}
