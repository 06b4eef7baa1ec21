/** Pages in the sidebar, the phone's bottom bar, the command palette and the `g` + letter shortcuts. */
export const pages = [
  { to: "/", title: "Fleet", letter: "f" },
  { to: "/activity", title: "Activity", letter: "a" },
  { to: "/inbox", title: "Inbox", letter: "i" },
  { to: "/costs", title: "Costs", letter: "c" },
  { to: "/chat", title: "Chat", letter: "t" },
  { to: "/nodes", title: "Nodes", letter: "n" },
  { to: "/audit", title: "Audit", letter: "u" },
] as const;
