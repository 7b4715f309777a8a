/** The texts of the page of a live form, beside those of the preview. */
export const texts = {
  unavailable: 'This form is not available',
  noConnection: 'The service did not respond. Check your connection and load the page again.',
  notCollected:
    'This page shows the form as it is published. Answers stay on this page: they are not collected here.',
  ending: 'Nothing was sent: this page does not collect answers.',
  guide: 'For the makers of the form: how to show it where answers are collected',
}
