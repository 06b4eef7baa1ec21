export type Said = { word: "allow" | "deny"; reason?: string } | { reply: string };
