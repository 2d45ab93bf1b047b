/** The weights of the semantic half that a training chooses from. On eight collections one of them was better than the default. */
export const STRONG_SEMANTIC_WEIGHT = 0.7;
export const WEAK_SEMANTIC_WEIGHT = 0.35;
