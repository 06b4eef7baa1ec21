/** Where the image's launcher listens for programs that cannot use a proxy on a unix socket. */
export const forwarderUrl = "http://127.0.0.1:3128";

/** Paths inside every agent container, independent of host paths. */
export const containerPaths = {
  workspace: "/workspace",
  home: "/home/agent",
  /** Claude Code's own folder: settings and sessions. */
  configDir: "/home/agent/.claude",
  claude: "/usr/local/bin/claude",
  launcher: "/usr/local/bin/herdctl-launch",
  privateDir: "/run/herdctl/private",
  /** The sockets of the gateway. */
  proxySockets: "/run/herdctl/proxy",
  plugins: "/run/herdctl/plugins",
  /** `additional_directories` and `project_config_root`. */
  folders: "/run/herdctl/folders",
  /** The private git directory. The `.git` file of the workspace points to it. */
  git: "/run/herdctl/git",
  /** Objects of the host's repository, mounted read-only. */
  objects: "/run/herdctl/objects",
} as const;
