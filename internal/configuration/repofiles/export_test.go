package repofiles

var FindWith = find
