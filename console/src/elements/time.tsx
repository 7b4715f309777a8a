import { locale } from '../texts.ts'

const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })

/** An instant in the time zone of the browser, with the exact time as a tooltip. @param time RFC 3339 */
export const Time = ({ time }: { time: string }) => (
  <time dateTime={time} title={time}>
    {format.format(new Date(time))}
  </time>
)
