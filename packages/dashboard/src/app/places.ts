/** Where one can go from anywhere: the sidebar, the bar on a phone, the palette and `g` + letter. */
export const places = [
  { to: "/", title: "Fleet", letter: "f" },
  { to: "/activity", title: "Activity", letter: "a" },
  { to: "/inbox", title: "Inbox", letter: "i" },
  { to: "/costs", title: "Costs", letter: "c" },
  { to: "/chat", title: "Chat", letter: "t" },
  { to: "/nodes", title: "Nodes", letter: "n" },
  { to: "/audit", title: "Audit", letter: "u" },
] as const;
