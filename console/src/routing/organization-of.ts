/** The id of the organization in the path of a form or revision. */
export const organizationOf = (path: string): string => path.split('/')[1]!
