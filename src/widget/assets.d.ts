/** The build imports style sheets as minified text. */
declare module '*.css' {
	const text: string;
	export default text;
}

/** Suffix in the file names of the chat and its languages, which distinguishes versions. Set by the build. */
declare const VERSION: string;
