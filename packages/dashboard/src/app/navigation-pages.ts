/** Pages in the sidebar, the phone's menu, the command palette and the `g` + letter shortcuts. */
export const pages = [
  { to: "/", title: "Fleet", letter: "f" },
  { to: "/activity", title: "Activity", letter: "a" },
  { to: "/inbox", title: "Inbox", letter: "i" },
  { to: "/chat", title: "Chat", letter: "t" },
  { to: "/search", title: "Search", letter: "s" },
  { to: "/costs", title: "Costs", letter: "c" },
  { to: "/nodes", title: "Nodes", letter: "n" },
  { to: "/access", title: "Access", letter: "e" },
  { to: "/audit", title: "Audit", letter: "u" },
  { to: "/settings", title: "Settings", letter: "o" },
] as const;

/** The first pages fit into the bar of a phone; the others are in its menu. */
export const phoneBarCount = 4;
