"""WHO SHOWS IT ELSEWHERE: the Reporter port, by the place that the report goes to."""
