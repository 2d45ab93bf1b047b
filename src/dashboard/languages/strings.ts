import type { assistants } from './en/assistants.ts';
import type { shell } from './en/shell.ts';

/** A text, or a text in its singular and plural form. */
type Texts<T> = { readonly [Name in keyof T]: T[Name] extends string ? string : { one: string; other: string } };

/** The texts of the shell and of what all pages share. */
export type ShellStrings = Texts<typeof shell>;
export type AssistantStrings = Texts<typeof assistants>;

/** All texts of the dashboard. The English ones decide which there are; each other language has all of them. */
export interface Strings extends ShellStrings {
	assistantPages: AssistantStrings;
}
