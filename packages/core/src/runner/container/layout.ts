/** Where the image's launcher listens for programs that know no proxy on a socket. */
export const forwarder = "http://127.0.0.1:3128";

/** Where things lie in every agent's container, whatever the host calls them. */
export const inside = {
  workspace: "/workspace",
  home: "/home/agent",
  /** Claude Code's own folder: settings and sessions. */
  configDir: "/home/agent/.claude",
  claude: "/usr/local/bin/claude",
  launcher: "/usr/local/bin/herdctl-launch",
  privateDir: "/run/herdctl/private",
  /** The sockets of the gateway. */
  door: "/run/herdctl/door",
  plugins: "/run/herdctl/plugins",
  /** The private git directory, where `.git` of the workspace is a file that names it. */
  git: "/run/herdctl/git",
  /** Objects of the host's repository, to read only. */
  objects: "/run/herdctl/objects",
} as const;
