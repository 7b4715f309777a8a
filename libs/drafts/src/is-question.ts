/** Whether a step is a question: of a form's steps, only questions have answers. */
export const isQuestion = ({ type }: { type?: unknown }): boolean => type !== 'start' && type !== 'end'
