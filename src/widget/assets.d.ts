/** Style sheets come into the bundle as text, minified. */
declare module '*.css' {
	const text: string;
	export default text;
}

/** The file of the chat itself, named by its content. Set by the build. */
declare const CHAT_FILE: string;
/** The files of the languages beside English, named by their content. Set by the build. */
declare const LANGUAGE_FILES: Readonly<Record<string, string>>;
