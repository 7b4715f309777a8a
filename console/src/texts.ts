/** The language of the texts, and of times and numbers in them. */
export const locale = 'en'

/** All texts of the console, in English. */
export const texts = {
  product: 'Forms',
  skip: 'Skip to the content',
  loading: 'Loading …',
  cancel: 'Cancel',
  close: 'Close',
  tryAgain: 'Try again',
  readAgain: 'Read the form again',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'The browser did not copy it. Select the text, and copy it with the keyboard.',
  offline: 'No connection to the service. What you type is kept in this browser.',
  readOnly: 'You may read this form but not change it: your role is viewer, or your key is read-only.',
  noOrganization: 'You are not a member of an organization yet. Ask whoever runs this service to add you.',
  notFound: 'Not found',
  notFoundText: 'The console has no such page. The link may be incomplete.',
  signOut: 'Sign out',
  signOutDeletes: (count: number) =>
    `Unsaved changes of ${count === 1 ? 'one form' : `${count} forms`} are kept in this browser. Signing out deletes them.`,

  nav: {
    organization: 'Organization',
    form: 'Form',
    forms: 'Forms',
    activity: 'Activity',
    'deleted-forms': 'Deleted forms',
    keys: 'Keys',
    edit: 'Edit',
    preview: 'Preview',
    publish: 'Publish',
    revisions: 'Revisions',
    'form-activity': 'Activity',
    'use-it': 'Use it',
  },

  errors: {
    reason: 'Reason',
    requestId: 'Request',
    ofReason: {
      API_KEY_INVALID: 'The service does not accept this key: it is mistyped, revoked or expired.',
      LOGIN_CODE_INVALID:
        'The login link was used already, or it has expired. Ask whoever gave it to you for another one.',
      INVALID_REQUEST: 'Correct the fields below.',
    } as Record<string, string>,
    noConnection: 'The service did not respond. Check your connection and try again.',
  },

  signIn: {
    title: 'Sign in to Forms',
    explanation:
      'Here you make forms, try them out and publish them. Open the login link that you were given, or paste an API key. If you have neither, ask whoever runs this service.',
    key: 'API key',
    keyHint: 'Begins with fms_. It stays in this tab and is removed when you close it.',
    signIn: 'Sign in',
    noKey: 'This is not an API key. A key begins with fms_, followed by letters, digits, _ and -.',
    ends: {
      rejected: 'Your key was revoked or has expired. Sign in again; what you typed is kept in this browser.',
      'not-revoked':
        'You are signed out here, but the service did not respond: the key of this session works until it expires. You can revoke it on the page Keys.',
    },
  },

  loginLink: {
    title: (email: string) => `Sign in as ${email}?`,
    explanation:
      'You opened a login link of this user. If that is not you, somebody may want you to work in their name: do not sign in.',
    change: 'Change the user?',
    explainChange: (current: string, other: string) =>
      `You are signed in as ${current}; the link signs in ${other}. Unsaved changes of ${current} stay in this browser.`,
    signIn: (email: string) => `Sign in as ${email}`,
    stay: (current: string) => `Stay signed in as ${current}`,
    notRevoked:
      'The service did not respond: the key that this tab no longer uses works until it expires. Its user can revoke it on the page Keys.',
  },

  retry: {
    title: 'No connection',
    explanation:
      'Try again to continue the sign-in. A login link works only once: if the service has received it, and only the response was lost, you need another link.',
  },

  users: { you: 'you', unknown: 'unknown', other: (id: string) => `user ${id}`, operator: 'an operator' },

  types: { structured: 'Structured', dynamic: 'Dynamic' },
  modes: { guided: 'Guided', conversational: 'Conversational', voice: 'Voice' },
  states: {
    live: 'live',
    'draft-differs': 'live, draft differs',
    'taken-down': 'taken down',
    'never-published': 'never published',
  },

  forms: {
    title: 'Forms',
    new: 'New form',
    search: 'Search by name',
    any: 'Any',
    live: 'Live',
    liveChoices: { any: 'Any', live: 'Live', 'not-live': 'Not live' },
    order: 'Order',
    orders: {
      'updateTime desc': 'Last updated',
      'createTime desc': 'Newest',
      name: 'Name',
      'replyCount desc': 'Most replies',
    },
    state: 'State',
    updated: 'Updated',
    created: 'Created',
    replies: 'Replies',
    actions: 'Actions',
    none: 'No forms here.',
    count: (count: number) => (count === 1 ? '1 form' : `${count.toLocaleString(locale)} forms`),
    pages: 'Pages',
    previous: 'Previous page',
    next: 'Next page',
    range: (from: number, to: number) => (to < from ? '' : `${from} to ${to}`),
    duplicate: 'Duplicate',
    duplicateOf: (name: string) => `Duplicate ${name}`,
    copyOf: (name: string) => `Copy of ${name}`,
  },

  newForm: {
    title: 'New form',
    name: 'Name',
    from: 'Begin with',
    examples: {
      blank: 'A blank form',
      feedback: 'Example: customer feedback',
      registration: 'Example: event registration',
      interview: 'Example: product interview (dynamic)',
    },
    typeHint: 'It cannot be changed later.',
    file: 'Or import a JSON file',
    fileHint: 'A form as the API returns it. Ids, times and counts in it are ignored.',
    noJson: 'The file is not a JSON object.',
    create: 'Create form',
  },

  fields: {
    name: 'Name',
    description: 'Description',
    type: 'Type',
    typeHint: 'Fixed when a form is created.',
    defaultMode: 'Mode',
    tone: 'Tone',
  },

  edit: {
    title: 'Edit form',
    json: 'Form as JSON',
    jsonNotLoaded:
      'The JSON editor could not be loaded. If it fails again, reload the page: what you typed is kept.',
    side: 'Preview or JSON',
    showJson: 'Show JSON',
    undo: 'Undo',
    redo: 'Redo',
    save: 'Save',
    savedLater: 'Not saved yet. It is saved by itself once the service responds again.',
    discard: 'Discard changes',
    discarded: 'Discarded. Undo brings it back.',
    unsaved: 'Unsaved changes',
    saving: 'Saving …',
    saved: 'Saved',
    restored: 'These are your unsaved changes from before. Save them, or discard them.',
    restoredAndMoved:
      'These are your unsaved changes from before. The form has been changed since: when you save, you can compare both.',
    otherTabs:
      'You have opened this form in another tab, too. This browser keeps unsaved changes of one tab only: edit it here or there.',
    notStored: 'This browser has no room to keep your changes. Save them before you close the tab.',
    invalidJson: 'The JSON is incomplete. The fields show its last valid state.',
  },

  delete: {
    delete: 'Delete form',
    title: 'Delete this form?',
    explanation:
      'Respondents can no longer open it, and it leaves the list. Until it is removed for good, it can be brought back from Deleted forms.',
  },

  steps: {
    title: (count: number) => (count === 0 ? 'Steps' : `Steps (${count})`),
    untitled: 'Untitled step',
    moveUp: (name: string) => `Move ${name} up`,
    moveDown: (name: string) => `Move ${name} down`,
    remove: (name: string) => `Remove ${name}`,
    drag: 'Drag to move the step',
    newType: 'Type',
    add: 'Add step',
    skip: 'Skip the steps',
    addBelow: 'Add below',
    duplicate: 'Duplicate',
    moveTo: 'Move to place',
    move: 'Move',
    added: (place: number) => `Added step ${place}. Its title has the focus.`,
    removed: (name: string) => `Removed ${name}. Undo brings it back.`,
    duplicated: (name: string) => `Duplicated ${name}. The title of the copy has the focus.`,
    moved: (name: string, place: number) => `Moved ${name} to place ${place}.`,
  },

  remarks: { violations: 'invalid', warnings: 'look at this' },

  step: {
    type: 'Type',
    key: 'Key',
    keyHint: 'The name of the answer for programs: another key is another question.',
    members: {
      title: 'Title',
      description: 'Description',
      required: 'Required',
      placeholder: 'Example in the empty field',
      options: 'Options',
      min: 'Smallest',
      max: 'Largest',
      step: 'Step width',
      minLength: 'Fewest characters',
      maxLength: 'Most characters',
      pattern: 'Pattern',
      labels: 'Labels',
      accept: 'Kinds of files',
      amount: 'Amount',
      currency: 'Currency',
      buttonText: 'Button',
      logoUrl: 'Logo URL',
      redirectUrl: 'Redirect URL',
    },
    hints: {
      options: 'One on each line. Paste a list to add many.',
      labels: 'One on each line: for each value, or for the lowest and the highest.',
      pattern: 'A regular expression that the whole answer matches.',
      accept: 'One on each line, such as image/* or .pdf.',
      currency: 'Three letters, such as EUR.',
    },
    more: 'Logo, background and redirect',
    background: {
      url: 'Background image URL',
      position: 'Place of the image',
      positions: {
        whole: 'Behind the whole screen',
        'left-half': 'Left half',
        'right-half': 'Right half',
      } as Record<string, string>,
      overlayOpacity: 'Overlay',
      overlayHint: 'How much of the background colour lies over the image: 0 to 1.',
    },
    others: (names: string) => `In the JSON, this step also has: ${names}.`,
  },

  branches: {
    title: 'Branches',
    name: (number: number) => `Branch ${number}`,
    add: 'Add a branch',
    addAlways: 'Always go to …',
    if: 'If ',
    and: 'and ',
    or: 'or if ',
    goTo: 'go to ',
    alwaysGoTo: 'Always go to ',
    neverGoTo: 'Never go to ',
    question: 'Question',
    comparison: 'Comparison',
    answer: 'Answer',
    target: 'Step to go to',
    choose: 'Choose …',
    addAnd: 'And …',
    addOr: 'Or …',
    addIf: 'Only if …',
    remove: (number: number) => `Remove branch ${number}`,
    removeCondition: 'Remove this condition',
    operators: {
      equals: ['is', 'is not'],
      contains: ['contains', 'does not contain'],
      startsWith: ['begins with', 'does not begin with'],
      greaterThan: ['is more than', 'is not more than'],
      lessThan: ['is less than', 'is not less than'],
      isAnswered: ['is answered', 'is not answered'],
      includes: ['includes', 'does not include'],
    } as Record<string, readonly [string, string]>,
  },

  translations: {
    title: 'Languages',
    source: 'Language of the form',
    new: 'Another language',
    newHint: 'A language tag such as de or pt-BR.',
    add: 'Add language',
    remove: (locale: string) => `Remove ${locale} and its texts`,
    texts: 'Texts',
    option: (number: number) => `Option ${number}`,
    inLocale: (what: string, locale: string) => `${what}, in ${locale}`,
    stale: 'The text has changed since.',
  },

  theme: {
    title: 'Theme',
    fields: {
      backgroundColor: 'Background',
      foregroundColor: 'Text',
      primaryColor: 'Buttons',
      buttonTextColor: 'Text of buttons',
      buttonRadiusPx: 'Radius of buttons (px)',
      fontFamily: 'Font',
      textSize: 'Size of text',
      buttonSize: 'Size of buttons',
      textAnimation: 'Animation of text',
    },
    pick: (label: string) => `Pick a colour: ${label}`,
    picture: 'Picture of the theme',
    sampleTitle: 'How was your visit?',
    sampleText: 'It takes a minute.',
    sampleButton: 'Start',
  },

  conflict: {
    somebody: {
      title: 'Somebody else changed this form',
      explanation:
        'Nothing is saved yet. Merge both, keep your fields as they are, or take theirs. Then look it over and save.',
      theirChanges: 'They changed',
      myChanges: 'You changed',
      bothChanged: (count: number) =>
        count === 1
          ? 'You both changed one value. Which one do you keep?'
          : `You both changed ${count} values. Which ones do you keep?`,
      sides: { mine: 'Mine:', theirs: 'Theirs:' },
      keep: 'Keep mine',
      take: 'Take theirs',
      discards:
        '“Keep mine” discards everything that they changed; “Take theirs” discards everything that you changed.',
    },
    ownTab: {
      title: 'You changed this form in another tab',
      explanation:
        'Nothing of this tab is saved yet. Merge both, keep the fields of this tab, or take those of the other one. Then look it over and save.',
      theirChanges: 'In the other tab',
      myChanges: 'In this tab',
      bothChanged: (count: number) =>
        count === 1
          ? 'Both tabs changed one value. Which one do you keep?'
          : `Both tabs changed ${count} values. Which ones do you keep?`,
      sides: { mine: 'This tab:', theirs: 'Other tab:' },
      keep: 'Keep this tab',
      take: 'Take the other tab',
      discards:
        '“Keep this tab” discards everything that you changed in the other one, “Take the other tab” everything that you changed here.',
    },
    absent: '(removed)',
    merge: 'Merge both',
  },

  publicLink: 'Respondents open it at',

  preview: {
    title: 'Preview',
    titleOf: (name: string) => `Preview: ${name}`,
    nothingStored: 'Preview: nothing is stored. It shows the saved draft.',
    language: 'Language',
    restart: 'Start again',
    noSteps: 'This form has no steps yet.',
    step: 'Step',
    next: 'Next',
    back: 'Back',
    yes: 'Yes',
    no: 'No',
    required: 'This question requires an answer.',
    tooFew: (count: number) => `Choose at least ${count}.`,
    tooMany: (count: number) => `Choose at most ${count}.`,
    noPrice: 'The payment has no amount yet.',
    finished: 'The form ends here.',
    missingStep: (key: string) => `A branch leads to the step ${key}, which does not exist.`,
    unknownOperator: (operator: string) =>
      `The preview does not know the operator ${operator}, so its condition does not hold here.`,
    unknownType: (type: string) => `The preview does not know steps of the type ${type}. This is its data:`,
  },

  publish: {
    title: 'Publish',
    titleOf: (name: string) => `Publish: ${name}`,
    changes: 'What changes for respondents',
    unsaved:
      'This browser has unsaved changes of this form. They are not part of a publish until you save them.',
    notLive: 'The form is not live: a publish shows all of it to respondents.',
    nothingChanged: 'Nothing has changed since the last publish.',
    breaking: (count: number) =>
      count === 1
        ? 'One change is breaking: answers that respondents have given lose their question or option.'
        : `${count} changes are breaking: answers that respondents have given lose their question or option.`,
    violations: () => 'Correct this before you publish',
    warnings: (count: number) =>
      count === 1
        ? 'One thing that respondents may stumble over'
        : `${count} things that respondents may stumble over`,
    note: 'Note',
    noteHint: 'What you change, or why. It is shown with the revision.',
    acceptBreaking: 'Publish the breaking changes',
    publish: 'Publish',
    showChanges: 'Show what has changed',
    done: 'Published. Respondents now see this draft.',
  },

  unpublish: {
    title: 'Take the form down',
    explanation: 'Respondents can no longer open it. The draft, all revisions and all replies stay.',
    unpublish: 'Unpublish',
    done: 'Taken down. Publish again to bring it back.',
  },

  changes: {
    kinds: { ADDED: 'added', REMOVED: 'removed', CHANGED: 'changed', MOVED: 'moved' },
    step: (type: string, name: string) =>
      `${{ start: 'Start screen', end: 'End screen', statement: 'Statement' }[type] ?? 'Question'} ${name}`,
    option: (option: string) => `Option “${option}”`,
    memberOf: (member: string, step: string) => `${member} of ${step}`,
    breaking: {
      STEP_REMOVED: 'Breaking: answers to it stay with earlier replies.',
      STEP_TYPE_CHANGED: 'Breaking: answers already given have the old type.',
      OPTION_REMOVED: 'Breaking: answers already given may have this option.',
    },
    empty: '(empty)',
    before: 'Before:',
    after: 'After:',
    more: (count: number) => `And ${count.toLocaleString(locale)} more.`,
  },

  revisions: {
    title: 'Revisions',
    titleOf: (name: string) => `Revisions: ${name}`,
    none: 'This form was never published.',
    more: 'More revisions',
    from: 'From',
    to: 'To',
    number: 'Revision',
    note: 'Note',
    publisher: 'Published by',
    time: 'When',
    draft: 'Draft',
    name: (number: number) => `revision ${number}`,
    fromNumber: (number: number) => `Compare from revision ${number}`,
    toNumber: (number: number) => `Compare to revision ${number}`,
    toDraft: 'Compare to the draft',
    compare: 'Compare',
  },

  compare: {
    title: 'Compare',
    titleOf: (form: string, from: string, to: string) =>
      `${form}: from ${from} to ${to === 'Draft' ? 'the draft' : to}`,
    equal: 'Both are equal.',
    exchange: 'Swap',
    withLive: 'Compare the live revision with this one',
  },

  rollback: {
    rollback: 'Roll back',
    toNumber: (number: number) => `Roll back to revision ${number}`,
    explanation:
      'All fields of the draft but the AI handoff are replaced with those of this revision. Respondents see this only after you publish.',
    compareFirst: 'Compare it with the draft first',
  },

  deletedForms: {
    title: 'Deleted forms',
    none: 'There are no deleted forms.',
    more: 'More deleted forms',
    deleted: 'Deleted',
    deleter: 'Deleted by',
    purge: 'Kept until',
    bringBack: 'Bring back',
    bringBackForm: (name: string) => `Bring back ${name}`,
    broughtBack: (name: string) => `${name} is back, as it was.`,
    remove: 'Remove for good',
    removeForm: (name: string) => `Remove for good: ${name}`,
    removeExplanation: 'This removes the form, its revisions and its replies. Nobody can bring them back.',
  },

  keys: {
    title: 'Keys',
    explanation: 'Your own API keys. A key acts as you, in every organization that you belong to.',
    name: 'Name',
    prefix: 'Begins with',
    rights: 'Rights',
    readOnly: 'read-only',
    readsAndWrites: 'those of your role',
    created: 'Created',
    lastUsed: 'Last used',
    expires: 'Expires',
    never: 'never',
    current: 'this session',
    unnamed: '(no name)',
    new: 'New key',
    onlyReads: 'Read-only',
    lifetime: 'Expires',
    lifetimes: {
      never: 'Never',
      current: 'With the key of this session',
      '30': 'In 30 days',
      '90': 'In 90 days',
      '365': 'In a year',
    },
    temporaryHint:
      'You signed in with a key that expires. A key that you create now cannot expire later than that.',
    create: 'Create key',
    readOnlySession: 'The key of this session is read-only, so you cannot create keys.',
    secretTitle: 'Copy the new key now',
    secretExplanation: 'It is shown only once, because only its hash is stored.',
    secret: 'API key',
    done: 'Done',
    rotate: 'Rotate',
    rotateKey: (name: string) => `Rotate ${name}`,
    rotateExplanation: 'A new key with the same name, rights and expiry replaces this one.',
    overlap: 'The old key still works',
    overlaps: { '0': 'Not at all', '3600': 'For an hour', '86400': 'For a day', '604800': 'For a week' },
    revoke: 'Revoke',
    revokeKey: (name: string) => `Revoke ${name}`,
    revokeExplanation: 'Whatever uses this key stops working within a second.',
    revokeCurrent: 'It is the key of this session: revoking it signs you out.',
  },

  activity: {
    title: 'Activity',
    titleOf: (name: string) => `Activity: ${name}`,
    explanation: 'New events appear automatically.',
    none: 'Nothing has happened yet.',
    by: 'by',
    types: {
      'form.created': 'Created',
      'form.updated': 'Updated',
      'form.published': 'Published',
      'form.unpublished': 'Taken down',
      'form.rolledBack': 'Rolled back',
      'form.deleted': 'Deleted',
      'form.undeleted': 'Brought back',
      'form.purged': 'Removed for good',
      'form.imported': 'Imported',
    } as Record<string, string>,
  },

  useIt: {
    title: 'Use it',
    titleOf: (name: string) => `Use it: ${name}`,
    explanation:
      'The console is a client of the public API. With these commands and this code, you can do the same with this form.',
    curl: 'curl',
    client: 'TypeScript client',
    formctl: 'formctl',
    kinds: { read: 'Read it', change: 'Change and publish it' },
    copyOf: {
      read: (name: string) => `Copy the lines for ${name} that read`,
      change: (name: string) => `Copy the lines for ${name} that change and publish`,
    },
  },
}
