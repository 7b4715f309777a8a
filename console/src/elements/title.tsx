/** The title of a page or dialog: a text, or a text around a name that people have chosen. */
export type Title = string | { text: (name: string) => string; name: string }

/** A title without markup, such as for a tab. */
export const textOfTitle = (title: Title): string =>
  typeof title === 'string' ? title : title.text(title.name)

/** A title in a heading. Its name may be in a script of the other direction, which leaves the rest as it is. */
export const TitleText = ({ title }: { title: Title }) => {
  if (typeof title === 'string') return <>{title}</>
  const [before, after] = title.text(placeholder).split(placeholder)
  return (
    <>
      {before}
      <bdi>{title.name}</bdi>
      {after}
    </>
  )
}

/** Stands for the name. No text has it. */
const placeholder = '\0'
