/** A file that the build puts beside the script: its name there. */
declare module '*.pdf' {
	const name: string;
	export default name;
}
declare module '*.docx' {
	const name: string;
	export default name;
}
declare module '*.html' {
	const name: string;
	export default name;
}
declare module '*.md' {
	const name: string;
	export default name;
}
declare module '*.txt' {
	const name: string;
	export default name;
}
