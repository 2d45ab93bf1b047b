/** Style sheets come into the bundle as text, minified. */
declare module '*.css' {
	const text: string;
	export default text;
}

/** What stands behind the names of the chat's file and of those of its languages: tells versions apart. Set by the build. */
declare const VERSION: string;
