export const sidebar: { label: string; pages: string[] }[];
export const awaited: string[];
export function slugOf(page: string): string;
