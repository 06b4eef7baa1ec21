export const sidebar: { label: string; pages: string[] }[];
export function slugOf(page: string): string;
