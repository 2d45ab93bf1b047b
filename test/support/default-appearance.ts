/** The appearance of a new deployment, apart from its greeting. */
export const DEFAULT_APPEARANCE = {
	primary_color: '#4f46e5',
	theme: 'light',
	position: 'bottom-right',
	suggested_questions: [],
	assistant_name: null,
	status_text: null,
	logo_url: null,
	privacy_url: null,
	disclosure_text: null,
	font_family: 'system',
	radius: 'medium',
};
