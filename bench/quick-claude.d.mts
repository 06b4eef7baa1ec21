/** Makes the program in this folder, and says where it is. */
export function quickClaude(folder: string): string;
